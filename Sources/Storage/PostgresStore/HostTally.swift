#if PostgreSQL
import Records
import Synchronization

/// Counts what a host meets of the others.
final class HostTally: Sendable {
    private let content = Mutex(HostFigures())

    var figures: HostFigures { content.withLock(\.self) }

    func note(_ what: WritableKeyPath<HostFigures, Int>, _ count: Int = 1) {
        content.withLock { $0[keyPath: what] += count }
    }
}
#endif
