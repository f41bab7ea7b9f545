#if PostgreSQL
@testable import Authenticator

/// A share that a test says.
struct SetShare: WorkShares {
    let isOurs: Bool
    /// Each end that was left to another host.
    let staleEnds = Channel<Void>()

    func term(of id: EnrollmentID) -> WorkTerm? { isOurs ? WorkTerm(share: 0, epoch: 1) : nil }

    func noteStaleEnd() { staleEnds.send(()) }

    var figures: HostFigures { HostFigures() }

    func run(onChange: @escaping @Sendable () -> Void) async throws {}
}
#endif
