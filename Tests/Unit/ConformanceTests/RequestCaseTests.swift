import Conformance
import FoundationEssentials
import IssuerProtocol
import Keys
import StrictJSON
import Testing
import ThreeDS

/// The cases of the kit as the agent's reader judges them; the directory is read once.
enum RequestCases {
    static let directory = CaseDirectory(
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../conformance/cases").standardized
            .path)
    private static let read = Result { try RequestCase.all(in: directory) }

    static var all: [RequestCase] { get throws { try read.get() } }
    static let names = (try? all.map(\.header.name)) ?? []

    static func named(_ name: String) throws -> RequestCase {
        try #require(try all.first { $0.header.name == name })
    }

    static func goodRequest() throws -> JSONValue {
        let file = URL(filePath: directory.path).appending(path: RequestCase.goodRequest)
        return try JSONReader.value([UInt8](Data(contentsOf: file)), limits: JSONLimits(maxBytes: 10_000))
    }
}

@Suite struct RequestCaseTests {
    @Test func `the request cases are read`() throws {
        #expect(try RequestCases.all.count > 380)
    }

    @Test(arguments: RequestCases.names)
    func `a request becomes what its case says`(name: String) throws {
        let file = try RequestCases.named(name)
        let key = try SigningKey.generate(.es256)
        let message = try file.message(signedBy: key, orBy: SigningKey.generate(.es256))
        let keys = JWKSet(keys: [("key-1", key.publicKey)])
        let verdict = AuthnRequestReader.read(message, for: try file.facts, keys: keys, now: try file.now)
        #expect(verdict.asFields == file.asFields, "\(verdict)")
    }

    /// Every reason that there is has a case, so that a new one does not go without.
    @Test func `every reason has a case`() throws {
        let codes = try Set(RequestCases.all.compactMap(\.code))
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

extension RequestCase {
    fileprivate var asFields: [String: String] {
        var fields = ["expect": expected.rawValue]
        fields["code"] = code
        fields["reason"] = reason?.rawValue
        fields["warnings"] = warnings.isEmpty ? nil : warnings.joined(separator: " ")
        return fields
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
