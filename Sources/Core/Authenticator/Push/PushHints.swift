import Journal
import Logging
import Records
import StoreTables

/// Fetches when an issuer's push says that there is something to fetch.
///
/// One fetch at a time for an enrollment, and one more if another hint came meanwhile.
struct PushHints: Sendable {
    private let ports: Ports
    private let fetcher: Fetcher
    private let pendingKeys: PendingKeys<EnrollmentID>

    /// From now on no hint is missed.
    init(ports: Ports, fetcher: Fetcher, hub: EventHub) {
        self.ports = ports
        self.fetcher = fetcher
        pendingKeys = hub.pendingKeys { if case .fetchWanted(let id) = $0 { [id] } else { [] } }
    }

    /// Works until the task is cancelled.
    func run() async throws {
        await KeyedWork().run([], then: pendingKeys) { id in await fetch(id) }
    }

    /// What fails has been noted, and the next poll brings the same.
    private func fetch(_ id: EnrollmentID) async {
        guard let enrollment = try? await ports.store.read({ try $0.enrollment(id) }) else { return }
        try? await fetcher.fetchNow(enrollment, by: .push)
    }
}
