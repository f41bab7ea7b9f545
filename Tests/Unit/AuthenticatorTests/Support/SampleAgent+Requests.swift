import IssuerProtocol
import Keys
import StoreTables
import StrictJSON
import WebAuthn

@testable import Authenticator
@testable import Journal
@testable import Records

extension SampleAgent {
    func message(_ request: SampleRequest, for enrollment: SampleEnrollment) throws -> String {
        try request.message(for: enrollment.enrollment, signedBy: issuerKey)
    }

    func message(_ cancellation: SampleCancellation, for enrollment: SampleEnrollment) throws -> String {
        try cancellation.message(for: enrollment.enrollment, signedBy: issuerKey)
    }

    /// Takes messages in as one answer of the issuer.
    func receive(messages: [String], for enrollment: SampleEnrollment) async throws {
        try await agent.fetcher.intake.receive(messages, for: try await self.enrollment(enrollment.id))
    }

    func receive(_ requests: SampleRequest..., for enrollment: SampleEnrollment) async throws {
        try await receive(messages: requests.map { try message($0, for: enrollment) }, for: enrollment)
    }

    func receive(_ cancellation: SampleCancellation, for enrollment: SampleEnrollment) async throws {
        try await receive(messages: [message(cancellation, for: enrollment)], for: enrollment)
    }

    /// Every request in the store, oldest first.
    func requests() async throws -> [RequestRecord] {
        try await store.real.read { try $0.requests(pendingOnly: false, enrollment: nil, limit: 5_000) }
    }

    /// The one request in the store.
    func onlyRequest() async throws -> RequestRecord {
        let all = try await requests()
        guard all.count == 1 else { throw SampleError("\(all.count) requests") }
        return all[0]
    }

    func request(_ id: RequestID) async throws -> RequestRecord {
        guard let request = try await store.real.read({ try $0.request(id) }) else { throw SampleError("no request") }
        return request
    }

    func outbox(of enrollment: SampleEnrollment) async throws -> [OutboxEntry] {
        try await store.real.read { try $0.outbox(enrollment: enrollment.id) }
    }

    @discardableResult
    func decide(
        _ decision: RequestLife.Decision, _ id: RequestID, expecting expectations: Expectations = Expectations(),
        shown digest: String? = nil, pin: PIN? = nil, while wanted: DecisionLimit? = nil
    ) async throws -> RequestRecord {
        try await agent.decide(
            decision, on: id, expecting: expectations, by: .command(Self.peer, shownTextDigest: digest), pin: pin,
            while: wanted)
    }

    /// Whoever decides.
    static let peer = ControlPeer(uid: 1_000, gid: 1_000, pid: 4_242, process: "oobctl")

    @discardableResult
    func approve(_ id: RequestID, pin: PIN? = nil) async throws -> RequestRecord {
        try await decide(.approve, id, pin: pin)
    }
}

extension OutboxEntry {
    /// What it says, as the issuer would read it.
    var decision: DecisionMessage { get throws { try DecisionMessage(bytes: body ?? []) } }

    var assertion: AuthenticationResponse {
        get throws {
            guard case .approve(let response) = try decision else { throw SampleError("no approval") }
            return response
        }
    }
}

/// The code of the failure that a command ends with; nil if it does not fail.
func failureCode(_ body: () async throws -> Void) async throws -> CommandError.Code? {
    do {
        try await body()
        return nil
    } catch let failure as CommandError {
        return failure.code
    }
}
