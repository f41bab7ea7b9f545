import Authenticator
import Control
import ControlServer
import Custody
import IssuerProtocol
import Keys
import Logging
import Testing

/// A client of the control socket that hangs up while its decision is being made.
@Suite(.timeLimit(.minutes(10)))
struct HungUpTests {
    private struct NoCopies: StateCopier {
        func copy() async throws -> any AsyncSequence<[UInt8], any Error> & Sendable { throw CancellationError() }
    }

    @Test func `while its key is slow, the key is given up and nothing is decided`() async throws {
        let member = try SampleMember(1)
        let key = SlowKey()
        let issuer = try IssuerURL("http://localhost:1")
        try await LocalAgent.run(at: issuer, keys: { SlowCustody(real: $0, key: key) }) { local in
            let enrollment = try #require(try await local.addEnrollments([member]).first)
            let request = try await local.addRequest(of: enrollment)
            try await served(local) { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        do {
                            _ = try await client.decide(.approve, .id(request.id.text), DecideCommand())
                        } catch {
                            #expect(Task.isCancelled, "it failed before its key was at work: \(error)")
                            key.end()
                        }
                    }
                    await key.untilAtWork()
                    // Its connection is closed.
                    group.cancelAll()
                    await key.untilGivenUp()
                    try await group.waitForAll()
                }
                let now = try await local.agent.request(request.id)
                #expect(now?.life == .pending)
                let other = try await client.decide(.deny, .id(request.id.text), DecideCommand(deliveryTimeout: 0))
                #expect(other.state == .denied)
            }
        }
    }

    private func served(_ local: LocalAgent, _ body: (ControlClient) async throws -> Void) async throws {
        let socket = local.directory + "/control.sock"
        var bounds = ControlBounds()
        bounds.patience = 86_400
        let (listening, sayListening) = AsyncStream.makeStream(of: Never.self)
        let server = ControlServer(
            agent: local.agent, copier: NoCopies(), path: socket, bounds: bounds,
            log: Logger(label: "server") { _ in SwiftLogNoOpLogHandler() }
        ) { sayListening.finish() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            for await _ in listening {}
            try await body(try ControlClient(socketFlag: socket, environment: [:], leastSeconds: 86_400))
            group.cancelAll()
        }
    }
}

/// A key that is at work until nobody waits for it any more.
private final class SlowKey: Sendable {
    private let work = AsyncStream.makeStream(of: Never.self)
    private let end = AsyncStream.makeStream(of: Never.self)

    func untilAtWork() async { for await _ in work.stream {} }

    func untilGivenUp() async { for await _ in end.stream {} }

    /// Lets nobody wait any more.
    func end() { work.continuation.finish() }

    func open() async throws -> Never {
        work.continuation.finish()
        let (never, _) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        end.continuation.finish()
        throw CancellationError()
    }
}

private struct SlowCustody: KeyCustody {
    let real: KeyFileCustody
    let key: SlowKey

    func unlock(_ name: EnrollmentID, at place: KeyPlace, pin: PIN?) async throws -> any UnlockedKey {
        try await key.open()
    }

    func makeKey(named name: EnrollmentID, algorithm: SignatureAlgorithm, pin: PIN?) async throws -> PublicKey {
        try await real.makeKey(named: name, algorithm: algorithm, pin: pin)
    }

    func changePIN(of name: EnrollmentID, from old: PIN, to new: PIN) async throws {
        try await real.changePIN(of: name, from: old, to: new)
    }

    func sighting(_ uri: KeyURI) async throws -> KeySighting { try await real.sighting(uri) }

    func inspect(_ uri: KeyURI, pin: PIN?) async throws -> OutsideKey {
        try await real.inspect(uri, pin: pin)
    }

    func check(_ name: EnrollmentID) async throws(KeyFailure) { try await real.check(name) }

    func uri(of name: EnrollmentID) -> String { real.uri(of: name) }

    func removeKey(named name: EnrollmentID) async throws { try await real.removeKey(named: name) }

    func seal(_ token: AccessToken, for name: EnrollmentID) throws -> [UInt8] { try real.seal(token, for: name) }

    func open(_ sealed: [UInt8], for name: EnrollmentID) throws -> AccessToken { try real.open(sealed, for: name) }

    func seal(_ key: PushReceiverKey, for name: EnrollmentID) throws -> [UInt8] { try real.seal(key, for: name) }

    func openPushKey(_ sealed: [UInt8], for name: EnrollmentID) throws -> PushReceiverKey {
        try real.openPushKey(sealed, for: name)
    }
}
