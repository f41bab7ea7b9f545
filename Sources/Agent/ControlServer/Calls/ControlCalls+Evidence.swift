import Authenticator
import Control
import IssuerProtocol
import Journal
import Keys
import Records
import TextAndTime

extension ControlCalls {
    /// Reads the whole journal, so it stops if the client hangs up.
    func evidence(_ name: String, _ query: RequestQuery, for client: ControlConnection) async throws -> Answer {
        let record = try await agent.request(
            try selector(name), enrollment: try await id(of: query.enrollment), wait: 0)
        let evidence = try await long(for: client) { try await agent.evidence(about: record.id) }
        return try .json(EvidenceView(evidence, version: agent.settings.version))
    }

    /// Runs long work, one at a time and at low priority; stops if the client hangs up.
    func long<Value: Sendable>(
        for client: ControlConnection, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let caller = client.caller
        return try await client.whileThere {
            try await longResponses.withTurn(for: caller.peer.uid, isFavoured: caller.isFavoured, body)
        }
    }
}

extension EvidenceView {
    fileprivate init(_ evidence: Evidence, version: String) {
        let (enrollment, message) = (evidence.enrollment, evidence.request.message)
        self.init(
            version: version, request: RequestView(evidence.request, enrollment: enrollment),
            erased: evidence.isErased, credential: CredentialView(enrollment),
            journal: JournalExtractView(evidence.journal, evidence.auditKey))
        authenticatorId = enrollment.membership?.authenticatorId.text
        self.message = message.isEmpty ? nil : message
        issuerKey = evidence.kept.issuerKey.flatMap(IssuerKeyView.init)
        nonce = evidence.request.presented.map { Base64URL.encode($0.nonce) }
        transaction = evidence.transaction.map { String(decoding: $0, as: UTF8.self) }
        text = evidence.kept.text
        decision = evidence.kept.decision.map { String(decoding: $0, as: UTF8.self) }
        assertion = evidence.assertion.map(AssertionView.init)
    }
}

extension IssuerKeyView {
    /// Returns `nil` for a key that issuers cannot sign with: the agent accepts ES256 only.
    fileprivate init?(_ key: PublicKey) {
        guard case .p256(let x, let y) = key.material else { return nil }
        self.init(
            jwk: #"{"crv":"P-256","kty":"EC","x":"\#(Base64URL.encode(x))","y":"\#(Base64URL.encode(y))"}"#,
            publicKey: key.pem)
    }
}

extension AssertionView {
    fileprivate init(_ assertion: Evidence.Assertion) {
        self.init(
            clientDataJSON: Base64URL.encode(assertion.clientDataJSON),
            authenticatorData: Base64URL.encode(assertion.authenticatorData),
            signature: Base64URL.encode(assertion.signature))
    }
}

extension CredentialView {
    fileprivate init(_ enrollment: Enrollment) {
        self.init(
            id: Base64URL.encode(enrollment.credentialId), rpId: enrollment.rpId,
            algorithm: SignatureAlgorithm(rawValue: enrollment.algorithm)?.name ?? String(enrollment.algorithm),
            publicKey: enrollment.credentialKey?.pem)
    }
}

extension JournalExtractView {
    fileprivate init(_ extract: JournalExtract, _ auditKey: String?) {
        self.init(
            entries: extract.rows.map { String(decoding: $0.bytes, as: UTF8.self) },
            statement: extract.seal.map { String(decoding: $0.statement, as: UTF8.self) },
            signature: extract.seal.map { Base64URL.encode($0.signature) }, publicKey: auditKey,
            fault: extract.fault.map(AuditFaultView.init))
    }
}
