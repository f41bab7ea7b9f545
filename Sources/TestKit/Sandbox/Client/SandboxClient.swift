import AsyncHTTPClient
import FoundationEssentials
import IssuerProtocol
import NIOCore
import NIOHTTP1
import ServerCertificates
import StrictJSON
import TextAndTime

/// A client of a running sandbox, for use from a shell.
package struct SandboxClient: Sendable {
    /// The failure of a call, in one sentence.
    package enum CallError: Error, Sendable, CustomStringConvertible {
        case unreachable(issuer: String)
        /// The sandbox refused, or the answer is not a sandbox's.
        case refused(String)

        package var description: String {
            switch self {
            case .unreachable(let issuer):
                "no sandbox answers at \(issuer); start one with oob-issuer serve, or name it with --issuer"
            case .refused(let sentence): sentence
            }
        }
    }

    /// An error in an order, in one sentence: the member, the error and the allowed values.
    package struct OrderError: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    private static let maxAnswer = 16 * 1_048_576
    private let issuer: IssuerURL

    /// Throws if the URL is not a valid issuer URL.
    package init(issuer: String) throws(IssuerURLError) { self.issuer = try IssuerURLError.issuer(issuer) }

    /// Issues a new enrollment code; the sandbox chooses a default for each option that is `nil`.
    package func enrollmentCode(
        attestation: String?, userVerification: String?, expiresIn: Int64?
    ) async throws(CallError) -> IssuedCode {
        let body = Self.codeOrder(attestation: attestation, userVerification: userVerification, expiresIn: expiresIn)
        let answer = try await call(.POST, SandboxRoutes.enrollmentCodes, body: body)
        do {
            return IssuedCode(code: try answer.string("code"), link: try answer.string("link"))
        } catch { throw .refused("the answer is not a sandbox's: \(error)") }
    }

    /// Starts a purchase.
    ///
    /// - Parameters:
    ///   - members: the members of the transaction, and the other members of the call as text.
    ///   - instrument: the members of the payment instrument.
    ///   - emv: the members of the call's `emv`, each as NAME=VALUE.
    package func purchase(
        _ members: [(name: String, value: String)], nonPayment: Bool, instrument: [(name: String, value: String)],
        emv: [String], expiresIn: Int64?
    ) async throws(CallError) -> PurchaseReport {
        let body: JSONObject
        do throws(SandboxError) {
            body = try Self.purchaseOrder(
                members, nonPayment: nonPayment, instrument: instrument, emv: emv, expiresIn: expiresIn)
        } catch { throw .refused(error.detail) }
        return try PurchaseReport(try await call(.POST, SandboxRoutes.purchases, body: body))
    }

    /// Verifies the order of ``enrollmentCode(attestation:userVerification:expiresIn:)`` without sending it.
    package static func checkEnrollmentCode(
        attestation: String?, userVerification: String?, expiresIn: Int64?
    ) throws(OrderError) {
        try expectValid {
            let body = codeOrder(attestation: attestation, userVerification: userVerification, expiresIn: expiresIn)
            _ = try CodeOrder(body)
        }
    }

    /// Verifies the order of ``purchase(_:nonPayment:instrument:emv:expiresIn:)`` without sending it.
    package static func checkPurchase(
        _ members: [(name: String, value: String)], nonPayment: Bool, instrument: [(name: String, value: String)],
        emv: [String], expiresIn: Int64?
    ) throws(OrderError) {
        try expectValid {
            let body = try purchaseOrder(
                members, nonPayment: nonPayment, instrument: instrument, emv: emv, expiresIn: expiresIn)
            _ = try PurchaseOrder(body, dependencies: .system)
        }
    }

    package static let decoupledMinutes = EMVProfile.Decoupled.range

    /// Returns the members of `emv` that ask for decoupled authentication.
    package static func decoupled(minutes: Int64) -> [String] {
        let digits = String(minutes)
        let padded = String(repeating: "0", count: max(0, 5 - digits.count)) + digits
        return ["threeDSRequestorDecReqInd=Y", "threeDSRequestorDecMaxTime=" + padded]
    }

    static func expectValid(_ read: () throws -> Void) throws(OrderError) {
        do {
            try read()
        } catch let refusal as SandboxError {
            throw OrderError(description: refusal.detail)
        } catch { throw OrderError(description: "\(error)") }
    }

    private static func codeOrder(
        attestation: String?, userVerification: String?, expiresIn: Int64?
    ) -> JSONObject {
        var body: JSONObject = [:]
        body["attestation"] = attestation.map(JSONValue.string)
        body["userVerification"] = userVerification.map(JSONValue.string)
        body["expiresIn"] = expiresIn.map(JSONValue.integer)
        return body
    }

    private static func purchaseOrder(
        _ members: [(name: String, value: String)], nonPayment: Bool, instrument: [(name: String, value: String)],
        emv: [String], expiresIn: Int64?
    ) throws(SandboxError) -> JSONObject {
        var body = object(members)
        if nonPayment {
            // A `null` leaves out a member that would get a default.
            for member in ["Amount", "Currency", "Exponent", "Date"] { body["purchase" + member] = .null }
        }
        if body["appendTransID"] != nil { body["appendTransID"] = true }
        if !emv.isEmpty { body["emv"] = .object(try EMVOrder.object(of: emv)) }
        if !instrument.isEmpty { body["instrument"] = .object(object(instrument)) }
        body["expiresIn"] = expiresIn.map(JSONValue.integer)
        return body
    }

    /// Waits until the purchase is completed, without a time limit.
    package func completion(of report: PurchaseReport) async throws(CallError) -> PurchaseReport {
        var report = report
        while !report.isCompleted {
            let path = SandboxRoutes.purchases + "/" + report.acsTransId + "?wait=60"
            report = try PurchaseReport(try await call(.GET, path, body: nil))
        }
        return report
    }

    func call(_ method: HTTPMethod, _ path: String, body: JSONObject?) async throws(CallError) -> JSONObject {
        var request = HTTPClientRequest(url: issuer.text + path)
        request.method = method
        if let body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: JSONValue.object(body).serialized()))
        }
        let (status, bytes) = try await exchange(request)
        guard (200..<300).contains(status) else {
            let detail = (try? Self.object(bytes))?["detail"]
            guard case .string(let sentence)? = detail else {
                throw .refused("the answer is not a sandbox's: HTTP status \(status)")
            }
            throw .refused(sentence)
        }
        do { return try Self.object(bytes) } catch { throw .refused("the answer is not a sandbox's: \(error)") }
    }

    private static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        // If the sandbox is not running, the call fails at once instead of after ten seconds.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http1_1ConnectionDebugInitializer = { SubjectAltName.require(on: $0) }
        configuration.http2ConnectionDebugInitializer = { SubjectAltName.require(on: $0) }
        return configuration
    }

    private func exchange(_ request: HTTPClientRequest) async throws(CallError) -> (status: Int, bytes: [UInt8]) {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: Self.configuration)
        do {
            let response = try await client.execute(request, timeout: .seconds(75))
            let bytes = Array(try await response.body.collect(upTo: Self.maxAnswer).readableBytesView)
            try await client.shutdown()
            return (Int(response.status.code), bytes)
        } catch is NoSubjectAltNameError {
            try? await client.shutdown()
            throw .refused("the sandbox's certificate has no subjectAltName: a name in CN alone does not count")
        } catch {
            try? await client.shutdown()
            throw .unreachable(issuer: issuer.text)
        }
    }

    private static func object(_ members: [(name: String, value: String)]) -> JSONObject {
        JSONObject(members.map { JSONObject.Member(name: $0.name, value: .string($0.value)) })
    }

    private static func object(_ bytes: [UInt8]) throws(JSONError) -> JSONObject {
        try JSONReader.object(bytes, limits: JSONLimits(maxBytes: maxAnswer, maxValues: 1_000_000))
    }
}

/// An enrollment code from the sandbox.
package struct IssuedCode: Sendable {
    package let code: String
    /// The link, in the form `oob-enroll:?issuer=…&code=…`.
    package let link: String

    package var json: String {
        ShownJSON.escaped(JSONValue.object(["code": .string(code), "link": .string(link)]).text)
    }
}
