#if PostgreSQL
import Records
import Synchronization

/// Counters of this host's conflicts with other hosts and of its connection problems.
final class HostTally: Sendable {
    private let content = Mutex(HostFigures())

    var figures: HostFigures { content.withLock(\.self) }

    func count(_ what: WritableKeyPath<HostFigures, Int>, _ count: Int = 1) {
        content.withLock { $0[keyPath: what] += count }
    }
}
#endif
