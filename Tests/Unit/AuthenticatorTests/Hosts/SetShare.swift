#if PostgreSQL
@testable import Records

/// A share that a test says.
struct SetShare: WorkShares {
    let isOurs: Bool
    /// How often it has changed hands, as far as the host knows.
    let epoch = Box<Int64>(1)
    /// Counts the ends that were left to another host, or to a later term.
    let staleEnds = Box(0)

    func term(of id: EnrollmentID) -> WorkTerm? { isOurs ? WorkTerm(share: 0, epoch: epoch.value) : nil }

    func noteStaleEnd() { _ = staleEnds.next() }

    var figures: HostFigures { HostFigures() }

    func keep(onChange: @escaping @Sendable () -> Void) async throws {}
}
#endif
