import IssuerProtocol
import Keys
import Testing
import ThreeDS

struct RequestCaseTests {
    @Test(arguments: RequestCase.names)
    func `a request becomes what its case says`(name: String) throws {
        let file = try RequestCase(named: name)
        let key = try SigningKey.generate(.es256)
        let message = try file.message(signedBy: key, orBy: SigningKey.generate(.es256))
        let keys = JWKSet(keys: [("key-1", key.publicKey)])
        let verdict = AuthnRequestReader.read(message, for: try file.facts, keys: keys, now: try file.now)
        let outcome = verdict.asFields
        #expect(outcome == file.fields.filter { $0.key != "because" }, "\(verdict)")
    }

    /// Every reason that there is has a case, so that a new one does not go without.
    @Test func `every reason has a case`() throws {
        let codes = try Set(RequestCase.names.compactMap { try RequestCase(named: $0).fields["code"] })
        // Only a failure of OpenSSL's own brings it.
        let notAuthentic = AuthenticityError.allCases.filter { $0 != .cannotTell }.map(\.rawValue)
        // A name that is there twice is found before the transaction is looked at.
        let transaction = TransactionRefusal.Code.allCases.filter { $0 != .duplicateMember }.map(\.rawValue)
        let rules = RequestRefusal.Rule.allCases.map(\.rawValue)
        let reasons = notAuthentic + UnanswerableError.allCases.map(\.rawValue) + rules + transaction
        #expect(Set(reasons).subtracting(codes).isEmpty)
    }

    /// Scripts tell refusals apart by this one word.
    @Test func `no token stands for two rules`() {
        let tokens = RequestRefusal.Rule.allCases.map(\.rawValue) + TransactionRefusal.Code.allCases.map(\.rawValue)
        #expect(Set(tokens).count == tokens.count)
    }
}

extension MessageVerdict {
    /// In the words of a case's header.
    fileprivate var asFields: [String: String] {
        switch self {
        case .notAuthentic(let reason): ["expect": "notAuthentic", "code": reason.rawValue]
        case .unknownKey: ["expect": "unknownKey"]
        case .unanswerable(let reason): ["expect": "unanswerable", "code": reason.rawValue]
        case .cancellation: ["expect": "cancellation"]
        case .request(let request): request.verdict.asFields
        }
    }
}

extension RequestVerdict {
    fileprivate var asFields: [String: String] {
        switch self {
        case .expired: return ["expect": "expired"]
        case .early: return ["expect": "early"]
        case .tooEarly: return ["expect": "tooEarly"]
        case .refused(let refusal):
            return ["expect": "refused", "code": refusal.token, "reason": refusal.reason.rawValue]
        case .inOrder(let request):
            guard !request.warnings.isEmpty else { return ["expect": "inOrder"] }
            return ["expect": "inOrder", "warnings": request.warnings.map(\.id).joined(separator: " ")]
        }
    }
}
