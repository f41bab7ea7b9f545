import Glibc

/// The place of SQLite's temporary files.
///
/// They contain values of the store, in clear. It is never SQLite's default: a directory that all users share
/// (`TMPDIR`, `/var/tmp`), on any disk.
package struct Scratch: Sendable {
    /// The statement for each connection.
    let pragma: String

    /// Memory, without a limit.
    ///
    /// A scrub needs as much as the size of the database.
    package static let memory = Scratch(pragma: "PRAGMA temp_store = MEMORY")

    /// Files in a writable directory beside the store, which need little memory however large they get.
    ///
    /// SQLite unlinks a temporary file before it writes to it, so none remains after a crash. The directory applies to
    /// all SQLite connections of this process, because SQLite reads the environment once. So call this before any use
    /// of SQLite, and before other threads read the environment.
    package static func files(in directory: String) -> Scratch {
        _ = unsafe setenv("SQLITE_TMPDIR", directory, 1)
        return Scratch(pragma: "PRAGMA temp_store = FILE")
    }
}
