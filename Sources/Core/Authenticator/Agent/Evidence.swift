import IssuerProtocol
package import Journal
import Keys
package import Records
import StoreTables
import ThreeDS
import WebAuthn

/// The stored evidence of one request, for a dispute.
package struct Evidence: Sendable {
    package let request: RequestRecord
    package let enrollment: Enrollment
    /// Whether this request's personal data was erased with that of its enrollment.
    package let isErased: Bool
    package let kept: KeptEvidence
    package let journal: JournalExtract
    /// The public half of the key that signs the journal, PEM.
    package let auditKey: String?
    /// The transaction in its canonical form (RFC 8785), which the challenge covers together with the nonce.
    package let transaction: [UInt8]?
    /// The signed bytes and the signature, or `nil` if the decision carries none.
    package let assertion: Assertion?

    /// The parts of an assertion that are needed to verify its signature (WebAuthn §6.3.3).
    package struct Assertion: Sendable {
        package let clientDataJSON: [UInt8]
        package let authenticatorData: [UInt8]
        package let signature: [UInt8]
    }
}

extension Agent {
    /// Collects the evidence of a request, for which it reads the whole journal.
    ///
    /// - Throws: `CommandError` `.notFound` if the request has gone meanwhile.
    package func evidence(about id: RequestID) async throws -> Evidence {
        // The journal is read first, so that the store already has all that the journal says of the request.
        let extract = try await journal.extract(about: id)
        let auditKey = try await journal.publicKeyPEM()
        return try await ports.store.read { store in
            guard let request = try store.request(id), let enrollment = try store.enrollment(request.enrollmentId)
            else {
                throw CommandError(.notFound, "there is no request \(id)")
            }
            let kept = try store.evidence(of: id)
            guard !request.isDamaged, !kept.isDamaged else { throw request.damaged(.failed, "there is no evidence") }
            return Evidence(
                request: request, enrollment: enrollment, isErased: try store.isErased(enrollment.id), kept: kept,
                journal: extract, auditKey: auditKey,
                transaction: try request.presented.map {
                    try ChallengeCommitment.transactionBytes($0.transaction.members)
                },
                assertion: kept.decision.flatMap(Evidence.Assertion.init))
        }
    }
}

extension Evidence.Assertion {
    fileprivate init?(decision: [UInt8]) {
        guard case .approve(let response)? = try? DecisionMessage(bytes: decision) else { return nil }
        clientDataJSON = response.clientDataJSON
        authenticatorData = response.authenticatorData
        signature = response.signature
    }
}
