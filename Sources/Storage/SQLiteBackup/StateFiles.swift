import DurableFiles
import FoundationEssentials

/// The names of what an agent keeps in its state directory: the database alone is its state.
package enum StateFiles {
    package static let database = "agent.db"
    /// The newest entry of this host's journal, noted outside the database; never in a backup.
    package static let head = "head"
    /// The room that is kept for a full disk; never in a backup.
    static let reserve = "\(database)-reserve"
    /// Where no other place was named; never in a backup.
    package static let secret = "secret"

    /// A copy that is being taken; what a crash left behind goes at the next start.
    static let backupPrefix = ".backup-"
    /// A restore that is under way, or was cut off.
    static let restore = ".restore"

    /// A state that is being moved here, or was cut off, until it has the name of the database.
    package static let moving = "\(database).moving"
    /// The journals of the hosts that had the state before it was moved here; the time follows.
    package static let hostJournals = "journal-of-hosts-"
}

extension StateFiles {
    /// The names that may be in a state directory into which a backup is restored: the secret, the lock, the reserve,
    /// and a restore that was cut off.
    static let beforeRestore: Set = [secret, "agent.lock", restore, reserve]

    /// Before an agent uses the directory: removes what a copy or a finished restore that was cut off left.
    ///
    /// - Returns: false if a restore was cut off before its end; then what is there is no state.
    package static func tidy(_ directory: String) -> Bool {
        let names = names(in: directory)
        for name in names where name.hasPrefix(backupPrefix) { remove("\(directory)/\(name)") }
        guard names.contains(restore) else { return true }
        guard names.contains(database) else { return false }
        // If it cannot be, the start says that the head is missing.
        try? DurableFile.move("\(directory)/\(restore)/\(head)", to: "\(directory)/\(head)")
        remove("\(directory)/\(restore)")
        return true
    }

    /// Whether something has the name of the database, whatever it is.
    package static func hasDatabase(_ directory: String) -> Bool { names(in: directory).contains(database) }

    /// Whether there are keys in files, as unreleased versions made them, and no database.
    package static func hasKeyFilesAlone(_ directory: String) -> Bool {
        !hasDatabase(directory) && names(in: "\(directory)/keys").contains { $0.hasSuffix(keyFileSuffix) }
    }

    private static let keyFileSuffix = ".key"

    private static func names(in directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }

    /// Whether a state was being moved here when it was cut off, and no agent may begin a new one.
    package static func awaitsMovedState(_ directory: String) -> Bool {
        let names = names(in: directory)
        return names.contains(moving) && !names.contains(database)
    }

    /// Removes what a move that was cut off has left: the state is still where it was.
    package static func removeUnfinishedMove(_ directory: String) {
        for suffix in ["", "-wal", "-shm"] { remove("\(directory)/\(moving)\(suffix)") }
    }

    /// A file or directory with all that is in it; one that is not there is no error.
    static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}
