import GRDB
import IssuerProtocol
import StrictJSON
import TextAndTime
import WebAuthn

/// The body of `POST /sandbox/enrollment-codes`.
package struct CodeOrder: Sendable {
    private static let known: Set<String> = [
        "attestation", "userVerification", "algorithms", "expiresIn", "sameCardholderAs",
    ]
    /// Bounds of a code's lifetime, in seconds; with 0 the code has expired when it is used.
    package static let lifetime: ClosedRange<Int64> = 0...86_400

    let attestation: AttestationConveyance
    let userVerification: UserVerificationRequirement
    let algorithms: OfferedAlgorithms
    let expiresIn: Int64
    /// The authenticatorId of another enrollment of the same cardholder, or `nil` for a new cardholder.
    let cardholder: String?

    init(_ body: JSONObject) throws {
        try body.refuseMembers(except: Self.known)
        attestation = try body.optionalChoice("attestation") ?? .none
        userVerification = try body.optionalChoice("userVerification") ?? .preferred
        algorithms = try Self.algorithms(body)
        expiresIn = try body.optionalInteger("expiresIn", in: Self.lifetime) ?? 600
        cardholder = try body.optionalString("sameCardholderAs", bytes: 1...64)
    }

    private static func algorithms(_ body: JSONObject) throws -> OfferedAlgorithms {
        guard let value = body["algorithms"], value != .null else { return .all }
        guard let algorithms = OfferedAlgorithms(value) else {
            throw SandboxError.badRequest("algorithms: must be 1 to 16 COSE algorithm numbers, such as [-8, -7]")
        }
        return algorithms
    }
}

/// Issues enrollment codes, as a bank's app or branch would.
struct EnrollmentCodes: Sendable {
    /// Crockford's base 32, which leaves out characters that look alike; five bits of a byte choose one.
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    let backend: IssuerBackend

    /// Issues a code: `{"attestation"?, "userVerification"?, "algorithms"?, "expiresIn"?, "sameCardholderAs"?}`.
    ///
    /// Answers with `{"code", "link"}`.
    func make(_ incoming: Incoming) async throws -> Answer {
        let order = try CodeOrder(try incoming.object(emptyAllowed: true))
        let code = try newCode()
        let fresh = try backend.dependencies.random(32)
        let expiresAt = backend.now + order.expiresIn
        let site = try backend.site.get()
        try await backend.store.queue.write { db in
            let userId = try order.cardholder.map { try Self.userId(of: $0, db) } ?? fresh
            try EnrollmentCodeRecord(
                code: code, userId: userId, attestation: order.attestation, userVerification: order.userVerification,
                algorithms: order.algorithms, expiresAt: expiresAt
            ).insert(db)
        }
        backend.notifier.notify(.anything)
        return .json(201, ["code": .string(code), "link": .string(Self.link(site.issuer, code))])
    }

    private static func userId(of authenticatorId: String, _ db: Database) throws -> [UInt8] {
        guard let record = try AuthenticatorRecord.find(authenticatorId, db) else {
            throw SandboxError.notFound("sameCardholderAs: no such authenticator")
        }
        return record.userId
    }

    private func newCode() throws -> String {
        let characters = try backend.dependencies.random(8).map { Self.alphabet[Int($0 & 31)] }
        return String(characters[0..<4]) + "-" + String(characters[4..<8])
    }

    /// Builds the link; the issuer is percent-encoded, and a code never needs it.
    static func link(_ issuer: IssuerURL, _ code: String) -> String {
        "oob-enroll:?issuer=\(PercentEncoding.encode(issuer.text))&code=\(code)"
    }
}
