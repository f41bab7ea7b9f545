import Glibc

/// Where SQLite puts what a statement needs for a while, which is what the store holds, in clear.
///
/// Never where it puts that of itself: a directory for everybody (`TMPDIR`, `/var/tmp`), on whatever disk.
package struct Scratch: Sendable {
    /// For each connection.
    let pragma: String

    /// Memory, as much as it takes, which for a scrub of the store is as much as the database has.
    package static let memory = Scratch(pragma: "PRAGMA temp_store = MEMORY")

    /// Files in a directory that can be written, beside the store: little memory, however much it is.
    ///
    /// They have no name before anything is in them, so nothing is left of them whatever happens. The directory is that
    /// of all in this process that uses SQLite, which reads the environment once: so call this before any of that, and
    /// before other threads read the environment.
    package static func files(in directory: String) -> Scratch {
        _ = unsafe setenv("SQLITE_TMPDIR", directory, 1)
        return Scratch(pragma: "PRAGMA temp_store = FILE")
    }
}
