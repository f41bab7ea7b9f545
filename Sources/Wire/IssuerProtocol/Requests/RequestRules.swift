import Keys
import StrictJSON
import ThreeDS
import WebAuthn

/// The rules for an authentic authn request that can be answered.
struct RequestRules {
    let jti: TokenID
    let claims: Claims
    let facts: EnrollmentFacts

    /// Returns `.inOrder` or `.refused`.
    ///
    /// `nil` if the cryptography of this machine failed, so there is no verdict.
    func verdict() -> RequestVerdict? {
        do {
            return .inOrder(try request())
        } catch let refusal as RequestRefusal {
            return .refused(refusal)
        } catch {
            return nil
        }
    }

    /// Checks first the rules that make a request invalid, then the agent's own policy.
    ///
    /// Throws `RequestRefusal`, or `CommitmentError` if a hash could not be computed.
    private func request() throws -> AuthnRequest {
        let lifetime = try Lifetime(claims)
        if let pointer = claims.duplicateNames.first { throw RequestRefusal.duplicateName(pointer) }
        guard !jti.readsAsCommand else {
            throw RequestRefusal.invalid(.jtiReserved, "jti is a word of the command line's: \(jti)")
        }
        let nonce = try Self.nonce(claims)
        let received = try Self.transactionObject(claims)
        let transaction = try Self.transaction(received)
        let requested = RequestedOptions(claims: claims, facts: facts)
        let options = try requested.options()
        let payment = try RequestedOptions.payment(in: options.extensions)
        // Refuse now a request that could not be signed later.
        _ = try payment?.clientData(for: transaction, rpId: facts.rpId, origin: facts.issuer.text)
        let challenge = try ChallengeCommitment.challenge(nonce: nonce, transaction: received)
        guard options.challenge == challenge else {
            throw RequestRefusal.invalid(.commitment, "publicKey.challenge does not commit to the transaction")
        }
        try checkUserVerification(options.userVerification)
        let digest = try ChallengeCommitment.transactionDigest(
            transaction, userVerification: options.userVerification.rawValue, payment: payment)
        return AuthnRequest(
            jti: jti, iat: lifetime.iat, exp: lifetime.exp, nonce: nonce, transaction: transaction,
            transactionDigest: digest, options: options, payment: payment, challenge: challenge,
            traceparent: claims.traceparent(), warnings: try warnings(transaction, payment))
    }

    static func nonce(_ claims: Claims) throws(RequestRefusal) -> [UInt8] {
        do {
            return try claims.object.base64url("nonce", bytes: 16...64)
        } catch {
            throw .invalid(.nonce, "nonce \(error.problem)")
        }
    }

    static func transactionObject(_ claims: Claims) throws(RequestRefusal) -> JSONObject {
        do {
            return try claims.object.object("transaction")
        } catch {
            throw .invalid(.transactionMissing, "transaction \(error.problem)")
        }
    }

    static func transaction(_ object: JSONObject) throws(RequestRefusal) -> Transaction {
        do throws(TransactionRefusal) {
            var members: [TransactionMember] = []
            for member in object.members {
                guard case .string(let value) = member.value else { throw .nonStringValue(member: member.name) }
                members.append(TransactionMember(name: member.name, value: value))
            }
            return try Transaction(members: members)
        } catch {
            throw .transaction(error)
        }
    }

    private func checkUserVerification(_ requirement: UserVerificationRequirement) throws(RequestRefusal) {
        guard requirement != .required || facts.canVerifyUser else {
            throw RequestRefusal(
                code: .rule(.userVerification),
                message: "userVerification is required, and this enrollment cannot verify its user", reason: .policy)
        }
    }

    private func warnings(
        _ transaction: Transaction, _ payment: PaymentExtension?
    ) throws(RequestRefusal) -> [Warning] {
        do {
            // A payee's origin is plain ASCII, so it needs no escapes.
            let name = payment.map { Warning.misleadingText(in: $0.displayName, member: "the instrument's name") }
            return try transaction.warnings(under: facts.exponentPolicy) + (name ?? [])
        } catch {
            throw .transaction(error)
        }
    }
}
