import FoundationEssentials
import IssuerProtocol
import Keys
import StrictJSON
import Synchronization
import WebAuthn

/// A cardholder that the kit plays, with a key of its own.
struct Cardholder {
    let name: String
    let key: SigningKey
    let credentialId: [UInt8]
    var lastCode: String?
    var options: EnrollmentOptionsAnswer?
    /// The registration sent last.
    var registration: [UInt8]?
    var registrationAnswer: [UInt8]?
    var membership: EnrollmentAnswer?
    /// The greatest signCount that the issuer has accepted.
    var acceptedSignCount: UInt32 = 0
    /// The greatest signCount that was signed.
    var signCount: UInt32 = 0
    var cursor: String?
    /// The number of requests listed for the cardholder.
    var listedCount = 0

    init(name: String, algorithm: SignatureAlgorithm) throws {
        self.name = name
        key = try SigningKey.generate(algorithm)
        credentialId = try SecureRandom.bytes(32)
    }
}

/// A request of the case, with what the case knows about it.
struct KnownRequest {
    let cardholder: String
    let transaction: JSONObject
    let output: PurchaseOutput
    /// Whether this purchase asked for a payment assertion.
    let wantsPayment: Bool
    let wantsVerification: Bool
    /// The listed request, or `nil` until it is listed.
    var listed: AuthnRequest?
    /// The position in the order of first listing, from 1; 0 before it is listed.
    var place = 0
    /// The bytes of the last decision.
    var lastDecision: [UInt8]?
    var lastAnswer: [UInt8]?

    var acsTransId: String { (try? transaction.string("acsTransId")) ?? "" }
}

/// The output of the purchase command, once the command has ended.
final class PurchaseOutput: Sendable {
    private let result = Mutex<Result<CommandOutput, CaseEnd>?>(nil)

    var value: CommandOutput? {
        get throws { try result.withLock { try $0?.get() } }
    }

    func set(_ result: Result<CommandOutput, CaseEnd>) { self.result.withLock { $0 = result } }
}

/// The tested side's clock: the machine's time, plus the offset by which the clock was moved.
package final class TestedClock: Sendable {
    private let moved = Mutex<Int64>(0)

    package init() {}

    /// The time, in seconds since 1970.
    var now: Int64 { Int64(Date().timeIntervalSince1970) + moved.withLock { $0 } }

    /// Moves the issuer's clock, and adopts the time that the command prints: it may have been ahead before.
    func move(_ issuer: TestedIssuer, by seconds: Int64, wire: Wire, trace: Trace) async throws {
        let output = try await issuer.output("clock", ["seconds": .integer(seconds)], wire: wire, trace: trace)
        guard let now = Int64(output.text) ?? (try? output.object?.integer("now")), now > 1_000_000_000 else {
            throw CaseEnd.broken("the command for `clock` printed no time, which is seconds since 1970")
        }
        let offset = now - Int64(Date().timeIntervalSince1970)
        moved.withLock { $0 = offset }
    }
}

extension SigningKey {
    /// Returns a signature algorithm by its COSE number, or `nil` if the kit does not have it.
    static func algorithm(_ number: Int) -> SignatureAlgorithm? { SignatureAlgorithm(rawValue: number) }
}
