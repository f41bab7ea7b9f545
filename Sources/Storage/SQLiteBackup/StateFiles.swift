import DurableFiles
import FoundationEssentials

/// The names of the files in the agent's state directory.
///
/// The database alone is the state.
package enum StateFiles {
    package static let database = "agent.db"
    /// The newest entry of this host's journal, recorded outside the database.
    ///
    /// Never in a backup.
    package static let head = "head"
    /// The reserved disk space.
    ///
    /// Never in a backup.
    static let reserve = "\(database)-reserve"
    /// The default place of the secret.
    ///
    /// Never in a backup.
    package static let secret = "secret"

    /// A copy that is being made.
    ///
    /// The next start removes what a crash left.
    static let backupPrefix = ".backup-"
    /// A restore that is running or was interrupted.
    static let restore = ".restore"

    /// A state that is being moved here, until it is renamed to the database.
    ///
    /// Remains if the move is interrupted.
    package static let moving = "\(database).moving"
    /// The journals of the hosts that had the state before it was moved here.
    ///
    /// The time follows the prefix.
    package static let hostJournals = "journal-of-hosts-"
}

extension StateFiles {
    /// The names that a state directory may contain before a restore.
    ///
    /// They are the secret, the lock, the reserve, and an interrupted restore.
    static let beforeRestore: Set = [secret, "agent.lock", restore, reserve]

    /// Removes the rest of an interrupted copy or of a finished restore.
    ///
    /// Call it before an agent uses the directory.
    ///
    /// - Returns: false if a restore was interrupted before its end. The directory then has no usable state.
    package static func tidy(_ directory: String) -> Bool {
        let names = names(in: directory)
        for name in names where name.hasPrefix(backupPrefix) { remove("\(directory)/\(name)") }
        guard names.contains(restore) else { return true }
        guard names.contains(database) else { return false }
        // If the move fails, the start reports that the head is missing.
        try? DurableFile.move("\(directory)/\(restore)/\(head)", to: "\(directory)/\(head)")
        remove("\(directory)/\(restore)")
        return true
    }

    /// Whether a file of any kind has the name of the database.
    package static func hasDatabase(_ directory: String) -> Bool { names(in: directory).contains(database) }

    /// Whether there are key files, which unreleased versions made, but no database.
    package static func hasKeyFilesAlone(_ directory: String) -> Bool {
        !hasDatabase(directory) && names(in: "\(directory)/keys").contains { $0.hasSuffix(keyFileSuffix) }
    }

    private static let keyFileSuffix = ".key"

    private static func names(in directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }

    /// Whether a move into the directory was interrupted.
    ///
    /// Then no agent may begin a new state.
    package static func awaitsMovedState(_ directory: String) -> Bool {
        let names = names(in: directory)
        return names.contains(moving) && !names.contains(database)
    }

    /// Removes the rest of an interrupted move.
    ///
    /// The state is still in its old place.
    package static func removeUnfinishedMove(_ directory: String) {
        for suffix in ["", "-wal", "-shm"] { remove("\(directory)/\(moving)\(suffix)") }
    }

    /// Removes a file or a directory with its contents.
    ///
    /// A missing one is not an error.
    static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}
