import Synchronization

/// How the last reload went, for the service manager's status: its reload goes well whatever the agent made of it.
final class LastReload: Sendable {
    private let state = Mutex<String?>(nil)

    /// Why the settings stayed as they were; nil where they did not.
    var refusal: String? { state.withLock(\.self) }

    func set(_ refusal: String?) { state.withLock { $0 = refusal } }

    /// A line for at once; nil where all is in order, and was before.
    func news(after before: String?) -> String? {
        refusal.map { "Reload refused: \($0)" } ?? before.map { _ in "Reloaded" }
    }
}
