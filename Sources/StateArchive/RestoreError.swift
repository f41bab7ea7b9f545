package import Keys

/// Why a backup was not restored; then nothing that looks like a state was left behind.
package enum RestoreError: Error, Equatable, CustomStringConvertible {
    /// The backup cannot be read.
    case unreadable(FileError)
    /// It is no backup, or not a whole one.
    case damaged(path: String, fault: String)
    /// A newer version made it.
    case newer(path: String, fault: String)
    /// Something is in the state directory.
    case occupied(directory: String, names: [String])
    /// The state directory cannot be written to.
    case unwritable(FileError)
    case failed(String)

    package var description: String {
        switch self {
        case .unreadable(let error): "the backup \(error)"
        case .damaged(let path, let fault): "\(path) is no whole backup: \(fault); take another one"
        case .newer(let path, let fault):
            "\(path) was made by a newer version of the agent: \(fault); restore it with that version"
        case .occupied(let directory, let names):
            "the state directory \(directory) is not empty, \(names.joined(separator: ", ")) is in it: a backup is restored "
                + "into an empty one; move what is there away, or name another with --state-dir"
        case .unwritable(let error): "the backup could not be restored: \(error)"
        case .failed(let reason): "the backup could not be restored: \(reason)"
        }
    }
}
