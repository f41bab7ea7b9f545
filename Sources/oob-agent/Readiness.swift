import Synchronization

/// What has to be there before the agent could sign.
final class Readiness: Sendable {
    enum Part {
        /// The control socket is listened on.
        case control
        /// So is the address for pushes.
        case push
        /// Each key was looked at: it can be used, or it is known why not.
        case keys
    }

    private let missing: Mutex<Set<Part>>
    private let told = Mutex(false)
    private let wait: AsyncStream<Never>
    private let end: AsyncStream<Never>.Continuation

    init(_ parts: Set<Part>) {
        missing = Mutex(parts)
        (wait, end) = AsyncStream.makeStream()
    }

    /// Whether nothing is missing.
    var isWhole: Bool { missing.withLock(\.isEmpty) }

    /// Whether the service manager knows, or is just being told, that the agent is ready.
    var isTold: Bool { told.withLock(\.self) }

    func willBeTold() { told.withLock { $0 = true } }

    func has(_ part: Part) {
        missing.withLock { _ = $0.remove(part) }
        if isWhole { end.finish() }
    }

    /// Returns once nothing is missing, or the task is cancelled; for one task.
    func untilWhole() async {
        for await _ in wait {}
    }
}
