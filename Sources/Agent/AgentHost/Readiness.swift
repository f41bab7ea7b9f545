import Synchronization

/// Waits until all parts are ready that the agent needs to sign.
package final class Readiness: Sendable {
    package enum Part: Sendable {
        /// The agent listens on the control socket.
        case control
        /// The agent listens on the address for pushes.
        case push
        /// The agent listens on the address for metrics.
        case metrics
        /// The keys were checked: one can be used, or no enrollment exists.
        case keys
    }

    private static let ports: Set<Part> = [.push, .metrics]

    private let missing: Mutex<Set<Part>>
    private let told = Mutex(false)
    private let ports = Gate()
    private let whole = Gate()
    private let onWhole: @Sendable () -> Void

    /// - Parameter onWhole: called once, when all parts are ready.
    package init(_ parts: Set<Part>, onWhole: @escaping @Sendable () -> Void) {
        missing = Mutex(parts)
        self.onWhole = onWhole
        if hasPorts { ports.open() }
    }

    /// Whether all parts are ready.
    package var isWhole: Bool { missing.withLock(\.isEmpty) }

    /// Whether `READY=1` was sent to the service manager, or is being sent.
    package var isTold: Bool { told.withLock(\.self) }

    package func willBeTold() { told.withLock { $0 = true } }

    package func has(_ part: Part) {
        let left = missing.withLock { missing in missing.remove(part) == nil ? nil : missing }
        guard let left else { return }
        if left.isDisjoint(with: Self.ports) { ports.open() }
        guard left.isEmpty else { return }
        onWhole()
        whole.open()
    }

    /// Returns once all parts are ready, or the task is cancelled; only one task may wait.
    package func untilWhole() async { await whole.pass() }

    /// Waits until the agent listens for pushes and for metrics, or the task is cancelled.
    ///
    /// Only one task may wait.
    ///
    /// - Returns: whether the agent listens on both addresses.
    package func untilPorts() async -> Bool {
        await ports.pass()
        return hasPorts
    }

    private var hasPorts: Bool { missing.withLock { $0.isDisjoint(with: Self.ports) } }
}

/// A gate that is opened once; one task can wait for that.
private struct Gate {
    private let wait: AsyncStream<Never>
    private let end: AsyncStream<Never>.Continuation

    init() { (wait, end) = AsyncStream.makeStream() }

    func open() { end.finish() }

    func pass() async {
        for await _ in wait {}
    }
}
