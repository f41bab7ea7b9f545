import Journal
import Records
import Sandbox
import ServedSandbox
import Testing

@testable import Authenticator

@Suite(.timeLimit(.minutes(20)))
struct BatchFetchTests {
    /// Waits until the sandbox holds a call back that asks for so many authenticators.
    private func untilHeld(_ count: Int, by sandbox: LocalSandbox) async throws {
        while sandbox.backend.notifier.waiting != count { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Whether so many connections are left: one whose call was given up is still there for a moment.
    private func connections(to sandbox: LocalSandbox, settlingIn range: ClosedRange<Int>) async throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(300)
        while try !range.contains(sandbox.connections) {
            guard ContinuousClock.now < deadline else { return false }
            try await Task.sleep(for: .milliseconds(5))
        }
        return true
    }

    @Test func `a thousand enrollments at one issuer hold one connection, and a request for one of them arrives`()
        async throws
    {
        let members = try (0..<1_000).map { try SampleMember($0) }
        try await LocalSandbox.run { sandbox in
            try await sandbox.addAuthenticators(members)
            try await LocalAgent.run(at: sandbox.issuer) { local in
                let enrollments = try await local.addEnrollments(members)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await local.agent.fetcher.run() }
                    try await untilHeld(1_000, by: sandbox)
                    // One is held by the fetch; another was used for the discovery, and is closed after a minute.
                    #expect(try await connections(to: sandbox, settlingIn: 1...2))

                    try await sandbox.purchase(for: members[617].authenticatorId)
                    let request = try await local.pendingRequest(of: enrollments[617])
                    #expect(request.presented != nil)
                    try await untilHeld(1_000, by: sandbox)
                    #expect(try await connections(to: sandbox, settlingIn: 1...2))
                    group.cancelAll()
                }
            }
        }
    }

    @Test func `of more than a thousand a newcomer's requests arrive as well`() async throws {
        let members = try (0..<1_001).map { try SampleMember($0) }
        try await LocalSandbox.run { sandbox in
            try await sandbox.addAuthenticators(members)
            try await LocalAgent.run(at: sandbox.issuer) { local in
                _ = try await local.addEnrollments(Array(members.dropLast()))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await local.agent.fetcher.run() }
                    try await untilHeld(1_000, by: sandbox)
                    let newcomers = try await local.addEnrollments(members.suffix(1))
                    local.agent.hub.publish(newcomers.map { .journaled(.enrolled, of: $0.id) })
                    try await untilHeld(1_001, by: sandbox)
                    try await sandbox.purchase(for: members[1_000].authenticatorId)
                    _ = try await local.pendingRequest(of: newcomers[0])
                    #expect(try await connections(to: sandbox, settlingIn: 2...3))
                    group.cancelAll()
                }
            }
        }
    }
}
