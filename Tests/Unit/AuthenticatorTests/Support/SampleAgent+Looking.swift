import StoreTables

@testable import Authenticator
@testable import Journal
@testable import Records

extension SampleAgent {
    /// Lets a service and the look work: the service begins, something happens of which nobody is told, and then looks are
    /// made until it is done.
    func looking(
        for service: @escaping @Sendable () async throws -> Void, _ happening: () async throws -> Void,
        until done: () async throws -> Void
    ) async throws {
        try await running([service]) {
            try await happening()
            try await running([agent.periodicLook.run, { try await looks(6) }], while: done)
        }
    }

    /// Lets so many looks be made, or fewer: an approval too has a wait of five seconds.
    func looks(_ count: Int) async throws {
        for _ in 1...count {
            while try await clock.naps.next() != AgentSettings.lookPause {}
            clock.advance(by: AgentSettings.lookPause)
        }
    }

    func write(entries: Int) async throws {
        let now = now
        try await agent.ports.store.write { store in
            for _ in 0..<entries { try store.record(.stopped, at: now) }
        }
    }
}
