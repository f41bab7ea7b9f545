import IssuerProtocol
import StrictJSON
import TextAndTime

/// Puts the parties and the time of a run in the place of those that the request cases are written with.
struct RequestAdaptation {
    /// What the cases are written with: `conformance/cases/approver/README.md`.
    private enum Written {
        static let issuer = "https://issuer.example"
        static let rpId = "issuer.example"
        static let authenticatorId = "authenticator-1"
        static let credentialId = "Y3JlZGVudGlhbC0x"
        static let jti = "request-1"
        static let acsTransId = "2f37539c-d82e-4929-88db-2f9e72c7fa62"
    }

    /// Times that are further away from a case's own `now` are extremes, and stay as they are: ten years.
    private static let farAway: Int64 = 315_360_000

    let issuer: String
    let member: EnrolledApprover
    /// In the place of the good request's, so that no two cases are about one request.
    let jti: String
    let acsTransId: String
    /// Seconds from the case's `now` to that of the run.
    let shift: Int64
    let caseNow: Int64
    /// Whether the challenge of the case is that of the transaction as it is written.
    let keepsTransaction: Bool

    func adapted(_ request: JSONValue) -> JSONValue {
        guard case .object(var request) = request, case .object(var claims)? = request["claims"] else { return request }
        if case .string(let text)? = claims["iss"], text.hasPrefix(Written.issuer) {
            claims["iss"] = .string(issuer + text.dropFirst(Written.issuer.count))
        }
        for name in ["iat", "exp"] { claims[name] = claims[name].map(moved) }
        let replacements = [
            Written.authenticatorId: member.id.text, Written.rpId: ScriptedSandbox.relyingParty,
            Written.credentialId: Base64URL.encode(member.credentialId),
        ]
        for name in ["aud", "publicKey"] { claims[name] = claims[name].map { $0.replacing(replacements) } }
        claims["jti"] = claims["jti"].map { $0.replacing([Written.jti: jti]) }
        if !keepsTransaction, case .object(let transaction)? = claims["transaction"] {
            claims["transaction"] = JSONValue.object(transaction).replacing([
                Written.acsTransId: acsTransId, Written.acsTransId.uppercased(): acsTransId.uppercased(),
            ])
        }
        request["claims"] = .object(claims)
        return .object(request)
    }

    private func moved(_ value: JSONValue) -> JSONValue {
        guard case .number(let lexeme) = value, let time = Int64(lexeme),
            abs(time.subtractingReportingOverflow(caseNow)) <= Self.farAway
        else { return value }
        return .integer(time + shift)
    }

    private func abs(_ difference: (partialValue: Int64, overflow: Bool)) -> Int64 {
        difference.overflow || difference.partialValue == .min ? .max : Swift.abs(difference.partialValue)
    }
}

extension JSONValue {
    /// The same, with strings that are exactly one of these replaced, at any depth.
    fileprivate func replacing(_ replacements: [String: String]) -> JSONValue {
        switch self {
        case .string(let text): .string(replacements[text] ?? text)
        case .array(let elements): .array(elements.map { $0.replacing(replacements) })
        case .object(let object):
            .object(
                JSONObject(
                    distinct: object.members.map { member in
                        JSONObject.Member(name: member.name, value: member.value.replacing(replacements))
                    }))
        default: self
        }
    }
}
