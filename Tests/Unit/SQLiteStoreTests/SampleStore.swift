import FoundationEssentials
import GRDB
import IssuerProtocol
import Keys
import Records
import SQLiteStore
import ScratchDirectories
import StoreTables
import StrictJSON
import TestStores
import TextAndTime
import ThreeDS

/// A store in a file of its own, and a second way into that file.
final class SampleStore: Sendable {
    let path: String
    let store: any Store
    private let directory: ScratchDirectory

    init() throws {
        directory = try ScratchDirectory()
        path = directory("store.sqlite")
        store = try openStore(at: path)
    }

    /// The store, of a run for SQLite.
    var file: SQLiteDatabase {
        get throws {
            guard let file = store as? SQLiteDatabase else { throw SampleError("the store is no file") }
            return file
        }
    }

    /// The file as any other program sees it.
    func raw<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) throws -> Value {
        try DatabaseQueue(path: path).write(body)
    }

    func execute(_ sql: String) throws { try raw { try $0.execute(sql: sql) } }

    /// What the store would have of a value in one place, in hexadecimal digits: under the only data key that there is.
    func encrypted(_ bytes: [UInt8], for place: String) throws -> String {
        let sealed = try raw { try Data.fetchOne($0, sql: "SELECT sealed FROM data_key") }
        guard let sealed, let key = DataKey(Secret([UInt8](sealed))) else { throw SampleError("there is no data key") }
        let encrypted = try key.encrypt(bytes, for: place)
        return encrypted.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Puts an active enrollment in.
    @discardableResult
    func enrollment(_ digit: String = "a") async throws -> Enrollment {
        let enrollment = try Self.enrollment(digit)
        try await store.write { try $0.insert(enrollment) }
        return enrollment
    }

    static func enrollment(
        _ digit: String, state: EnrollmentState? = nil, endedAt: Int64? = nil, key: KeyPlace = .own,
        credentialKey: PublicKey? = nil, sealedKey: [UInt8]? = nil
    ) throws -> Enrollment {
        guard let id = EnrollmentID(String(repeating: digit, count: 20)), let authenticator = TokenID("auth-\(digit)")
        else { throw SampleError("no id of \(digit)") }
        let membership = Membership(authenticatorId: authenticator, sealedToken: [1, 2, 3], enrolledAt: 20)
        return Enrollment(
            id: id, target: IssuerTarget(issuer: try IssuerURL("https://issuer.example"), rootsPEM: "PEM"),
            name: "my card", authnType: .presence, algorithm: -7, rpId: "issuer.example",
            credentialId: Array(digit.utf8), userHandle: [0x00, 0xFF], startedAt: 10, key: key,
            credentialKey: credentialKey, sealedKey: sealedKey, signCount: 3, state: state ?? .active(membership),
            endedAt: endedAt)
    }

    static func enrollment(numbered number: Int) throws -> Enrollment {
        guard let id = EnrollmentID(digits(number &* 7_919 % 1_000_000)) else {
            throw SampleError("no id of \(number)")
        }
        guard let authenticator = TokenID("auth-\(number)") else { throw SampleError("no id of \(number)") }
        let membership = Membership(authenticatorId: authenticator, sealedToken: [1], enrolledAt: 20)
        return Enrollment(
            id: id, target: IssuerTarget(issuer: try IssuerURL("https://issuer.example"), rootsPEM: nil),
            name: String(repeating: "x", count: number % 97), authnType: .presence, algorithm: -7,
            rpId: "issuer.example", credentialId: Array("\(number)".utf8), userHandle: [0xFF], startedAt: 10,
            signCount: 3, state: .active(membership))
    }

    /// A request of which all that differs comes from its number.
    static func request(
        _ number: Int, of enrollment: Enrollment, life: RequestLife = .pending, acsTransId: String? = nil,
        iat: Int64? = nil
    ) throws -> RequestRecord {
        let acsTransId = acsTransId ?? "2f37539c-d82e-4929-88db-\(digits(number).suffix(12))"
        guard let id = RequestID(digits(number)),
            let jti = TokenID("request-\(number)")
        else { throw SampleError("no id of \(number)") }
        let message = message(acsTransId: acsTransId)
        return RequestRecord(
            id: id, enrollmentId: enrollment.id, jti: jti, iat: iat ?? Int64(number), exp: 1_000 + Int64(number),
            presented: try presented(message, [Warning(id: "w", message: "m \"", severity: .high)]),
            acsTransId: acsTransId, message: message, traceparent: "00-1", receivedAt: 7, life: life)
    }

    /// What a message presents.
    static func presented(_ message: String, _ warnings: [Warning] = []) throws -> PresentedRequest {
        guard let kept = KeptMessage(message) else { throw SampleError("nothing is presented") }
        return PresentedRequest(kept, transactionDigest: [9, 9], warnings: warnings)
    }

    /// A message as an issuer sends it, but for its header and its signature.
    static func message(
        acsTransId: String, nonce: [UInt8] = Array(0..<16), payment: JSONObject? = nil, padding: String = ""
    ) -> String {
        var payload: JSONObject = [
            "nonce": .string(Base64URL.encode(nonce)),
            "transaction": [
                "merchantName": "Dæmø \u{202E}\"", "acsTransId": .string(acsTransId), "other": "Cafe\u{301}",
            ],
            "padding": .string(padding),
        ]
        if let payment { payload["publicKey"] = ["extensions": ["payment": .object(payment)]] }
        return "e30.\(Base64URL.encode(JSONValue.object(payload).serialized())).c2ln"
    }

    /// The id of the request of a number.
    static func digits(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 20 - digits.count) + digits
    }

    func outbox(of enrollment: Enrollment) async throws -> [OutboxEntry] {
        try await store.read { try $0.outbox(enrollment: enrollment.id) }
    }

    @discardableResult
    func insert(_ requests: RequestRecord...) async throws -> [RequestRecord] {
        try await store.write { store in for request in requests { try store.insert(request, KeptEvidence()) } }
        return requests
    }
}

/// Why a sample could not be made; a fault of the test.
struct SampleError: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
