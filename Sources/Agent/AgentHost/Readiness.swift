import Synchronization

/// Waits until everything is there that the agent needs to sign.
package final class Readiness: Sendable {
    package enum Part: Sendable {
        /// The control socket is listened on.
        case control
        /// So is the address for pushes.
        case push
        /// So is the one for metrics.
        case metrics
        /// The keys were looked at, and one can be used, or there is no enrollment.
        case keys
    }

    private static let ports: Set<Part> = [.push, .metrics]

    private let missing: Mutex<Set<Part>>
    private let told = Mutex(false)
    private let ports = Gate()
    private let whole = Gate()
    private let onWhole: @Sendable () -> Void

    /// - Parameter onWhole: called once, when nothing is missing any more.
    package init(_ parts: Set<Part>, onWhole: @escaping @Sendable () -> Void) {
        missing = Mutex(parts)
        self.onWhole = onWhole
        if hasPorts { ports.open() }
    }

    /// Whether nothing is missing.
    package var isWhole: Bool { missing.withLock(\.isEmpty) }

    /// Whether the service manager knows, or is just being told, that the agent is ready.
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

    /// Returns once nothing is missing, or the task is cancelled; for one task.
    package func untilWhole() async { await whole.pass() }

    /// Whether the addresses for pushes and for metrics are listened on: once that is so, or else when the task is
    /// cancelled; for one task.
    package func untilPorts() async -> Bool {
        await ports.pass()
        return hasPorts
    }

    private var hasPorts: Bool { missing.withLock { $0.isDisjoint(with: Self.ports) } }
}

/// Is opened once; lets one task wait for that.
private struct Gate {
    private let wait: AsyncStream<Never>
    private let end: AsyncStream<Never>.Continuation

    init() { (wait, end) = AsyncStream.makeStream() }

    func open() { end.finish() }

    func pass() async {
        for await _ in wait {}
    }
}
