#if PostgreSQL
import TestStores

@testable import Authenticator

extension SampleAgent {
    /// Two hosts on one PostgreSQL.
    static func twoHosts() throws -> (alpha: SampleAgent, beta: SampleAgent) {
        try StoreKind.$current.withValue(.postgres) {
            let alpha = try SampleAgent()
            return (alpha, try alpha.neighbour("beta"))
        }
    }

    /// The same, and both have started and seen each other.
    static func twoHostsThatHaveMet() async throws -> (alpha: SampleAgent, beta: SampleAgent) {
        let (alpha, beta) = try twoHosts()
        for host in [alpha, beta] { try await host.agent.prepare() }
        try await alpha.agent.hostWitness.look()
        return (alpha, beta)
    }
}
#endif
