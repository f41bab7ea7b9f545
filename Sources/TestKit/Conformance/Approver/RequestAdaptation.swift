import IssuerProtocol
import StrictJSON
import TextAndTime

/// Adapts a request case to a run: replaces the parties and times of its text with those of the run.
struct RequestAdaptation {
    /// The parties in the text of the cases: `conformance/cases/approver/README.md`.
    private enum Written {
        static let issuer = "https://issuer.example"
        static let rpId = "issuer.example"
        static let authenticatorId = "authenticator-1"
        static let credentialId = "Y3JlZGVudGlhbC0x"
        static let jti = "request-1"
        static let acsTransId = "2f37539c-d82e-4929-88db-2f9e72c7fa62"
    }

    /// Seconds (ten years) from a case's `now` beyond which a time is an extreme value and is not moved.
    private static let farAway: Int64 = 315_360_000

    let issuer: String
    let member: EnrolledApprover
    /// The jti that replaces the good request's, so that each case has a request of its own.
    let jti: String
    let acsTransId: String
    /// Seconds from the case's `now` to the run's.
    let shift: Int64
    let caseNow: Int64
    /// Whether this case's challenge was computed for the transaction as written.
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
    /// Returns a copy in which strings that equal a key are replaced by its value, at any depth.
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
