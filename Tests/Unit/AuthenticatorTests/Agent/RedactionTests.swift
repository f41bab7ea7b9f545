import Foundation
import IssuerProtocol
import Keys
import Logging
import Testing
import ThreeDS

@testable import Authenticator
@testable import Records

/// Values that hold a secret, each with the text that must never be seen of it.
private enum Kept: String, CaseIterable, Sendable {
    case secret, pin, agentSecret, accessToken, enrollmentCode, enrollmentParameters, enrollmentAnswer, signingKey

    static let text = "4711-correct-horse-battery-staple"

    func value() throws -> any Sendable {
        let secret = Secret(Array(Self.text.utf8))
        let (token, code) = (try #require(AccessToken(Self.text)), try #require(EnrollmentCode(Self.text)))
        switch self {
        case .secret: return secret
        case .pin: return try PIN(secret)
        case .agentSecret: return try AgentSecret(secret)
        case .accessToken: return token
        case .enrollmentCode: return code
        case .enrollmentParameters:
            return EnrollmentParameters(
                target: try SampleAgent.target, code: code, authnType: .pin, name: "card", pin: try PIN(secret))
        case .enrollmentAnswer:
            let id = try #require(TokenID("a"))
            return EnrollmentAnswer(authenticatorId: id, accessToken: token)
        case .signingKey: return try SigningKey.generate(.es256)
        }
    }
}

/// An error that carries a value, as one might by mistake.
private struct Carrying: Error {
    let value: any Sendable
}

/// No way of printing a value that holds a secret shows the secret.
@Suite struct RedactionTests {
    /// Every way in which Swift, Foundation and the log make text of a value.
    private func everyText(of value: any Sendable) -> [String] {
        var (dumped, debugged, printed) = ("", "", "")
        dump(value, to: &dumped)
        debugPrint(value, to: &debugged)
        print(value, to: &printed)
        let error = Carrying(value: value)
        let logged: Logger.Metadata = ["value": "\(value)", "error": "\(error)"]
        return [
            "\(value)", String(describing: value), String(reflecting: value), dumped, debugged, printed,
            mirrored(Mirror(reflecting: value)), "\(error)", error.localizedDescription, "\(error as NSError)",
            "\([value])", "\(["key": value])", "\(Optional(value) as Any)", "\(logged)",
        ]
    }

    /// All that reflection reaches, at any depth.
    private func mirrored(_ mirror: Mirror, depth: Int = 8) -> String {
        guard depth > 0 else { return "" }
        return mirror.children.map { child in
            "\(child.label ?? "") \(child.value) " + mirrored(Mirror(reflecting: child.value), depth: depth - 1)
        }.joined() + (mirror.superclassMirror.map { mirrored($0, depth: depth - 1) } ?? "")
    }

    @Test(arguments: Kept.allCases)
    fileprivate func `no way of printing shows what a value keeps`(kept: Kept) throws {
        let bytes = Array(Kept.text.utf8)
        let spellings = [
            Kept.text, bytes.map(String.init).joined(separator: ", "), Data(bytes).base64EncodedString(),
            bytes.map { String($0, radix: 16) }.joined(),
        ]
        for text in everyText(of: try kept.value()) {
            for spelling in spellings { #expect(!text.contains(spelling), "\(text)") }
            // No address either, at which a debugger would look.
            #expect(!text.contains("0x0000"), "\(text)")
        }
    }

    @Test(arguments: [Kept.secret, .pin, .agentSecret, .accessToken, .enrollmentCode, .signingKey])
    fileprivate func `the value itself is redacted, has nothing to reflect, and is no JSON`(kept: Kept) throws {
        let value = try kept.value()
        #expect("\(value)" == "<redacted>" && String(reflecting: value) == "<redacted>")
        #expect(Mirror(reflecting: value).children.isEmpty)
        #expect(!(value is any Encodable))
        #expect(!JSONSerialization.isValidJSONObject(["value": value]))
    }

    @Test func `a refused command's error names the reason, and nothing of the request that it carries`() async throws {
        let sample = try SampleAgent()
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let error = CommandError(.failed, "the reason", request: try await sample.onlyRequest())
        #expect(error.request?.presented?.transaction.merchantName.hasPrefix("CoffeeHouse2") == true)
        for text in ["\(error)", String(describing: error)] { #expect(text == "the reason") }
    }
}
