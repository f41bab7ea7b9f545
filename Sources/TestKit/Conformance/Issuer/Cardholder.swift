import FoundationEssentials
import IssuerProtocol
import Keys
import StrictJSON
import Synchronization
import WebAuthn

/// A cardholder that the kit plays, with a key of their own.
struct Cardholder {
    let name: String
    let key: SigningKey
    let credentialId: [UInt8]
    var lastCode: String?
    var options: EnrollmentOptionsAnswer?
    /// The registration that was sent last.
    var registration: [UInt8]?
    var registrationAnswer: [UInt8]?
    var membership: EnrollmentAnswer?
    /// The greatest that the issuer has taken.
    var acceptedSignCount: UInt32 = 0
    /// The greatest that was signed.
    var signCount: UInt32 = 0
    var cursor: String?
    /// How many requests were listed for them.
    var listedCount = 0

    init(name: String, algorithm: SignatureAlgorithm) throws {
        self.name = name
        key = try SigningKey.generate(algorithm)
        credentialId = try SecureRandom.bytes(32)
    }
}

/// A request as the case knows it.
struct KnownRequest {
    let cardholder: String
    let transaction: JSONObject
    let output: PurchaseOutput
    /// What the purchase asked for besides its transaction.
    let wantsPayment: Bool
    let wantsVerification: Bool
    /// Nil until it was listed.
    var listed: AuthnRequest?
    /// When it was listed first: after how many others of the case, and one.
    var place = 0
    /// Bytes that were sent for it.
    var lastDecision: [UInt8]?
    var lastAnswer: [UInt8]?

    var acsTransId: String { (try? transaction.string("acsTransId")) ?? "" }
}

/// What the purchase command printed, once it has ended.
final class PurchaseOutput: Sendable {
    private let result = Mutex<Result<CommandOutput, CaseEnd>?>(nil)

    var value: CommandOutput? {
        get throws { try result.withLock { try $0?.get() } }
    }

    func set(_ result: Result<CommandOutput, CaseEnd>) { self.result.withLock { $0 = result } }
}

/// The time as it is for the tested side: the machine's, and what its clock was moved by.
package final class TestedClock: Sendable {
    private let moved = Mutex<Int64>(0)

    package init() {}

    /// Seconds since 1970.
    var now: Int64 { Int64(Date().timeIntervalSince1970) + moved.withLock { $0 } }

    /// Moves the issuer's clock, and takes its word for what time it is then: it may have been ahead before.
    func move(_ issuer: TestedIssuer, by seconds: Int64, wire: Wire, trace: Trace) async throws {
        let output = try await issuer.run("clock", ["seconds": .integer(seconds)], wire: wire, trace: trace)
        guard let now = Int64(output.text) ?? (try? output.object?.integer("now")), now > 1_000_000_000 else {
            throw CaseEnd.broken("the command for `clock` printed no time, which is seconds since 1970")
        }
        let offset = now - Int64(Date().timeIntervalSince1970)
        moved.withLock { $0 = offset }
    }
}

extension SigningKey {
    /// Nil if the kit has no such algorithm (COSE).
    static func algorithm(_ number: Int) -> SignatureAlgorithm? { SignatureAlgorithm(rawValue: number) }
}
