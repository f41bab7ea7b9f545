import Glibc

/// A path taken apart into the directory and the name in it.
///
/// The directory is opened once, and every step works on that descriptor: nobody can put another directory in its
/// place between the steps.
struct FileLocation {
    let path: String
    let directory: String
    let name: String

    /// Refuses paths that name no file: empty, ending in "/", "." or "..", or with a zero byte, which C would end at.
    init(_ path: String) throws(FileError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let last = parts.last.map(String.init) ?? ""
        guard !path.utf8.contains(0), !["", ".", ".."].contains(last) else {
            throw FileError(path: path, reason: .unusablePath)
        }
        let above = parts.dropLast().joined(separator: "/")
        (self.path, name) = (path, last)
        directory = parts.count == 1 ? "." : above.isEmpty ? "/" : above
    }

    func openDirectory() throws(FileError) -> Descriptor {
        let number = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        return try Descriptor(takingOwnershipOf: number, path: directory, operation: "open")
    }
}
