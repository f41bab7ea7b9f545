import FoundationEssentials
import IssuerProtocol
import StrictJSON
import Testing
import TextAndTime
import ThreeDS
import WebAuthn

/// Messages of other people's libraries (`Tests/Fixtures/Libraries`), as the agent's own parsers take it.
@Suite struct LibraryFixtureTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../Fixtures/Libraries")

    /// A message that a library wrote, and what must become of it.
    struct Message: Sendable, CustomTestStringConvertible {
        let library: String
        let kind: String
        let what: String
        let value: JSONObject
        let outcome: Outcome
        /// Words that the outcome must give.
        let reason: String?

        var testDescription: String { "\(library), \(kind): \(what)" }
    }

    /// The outcome of a message: taken, ignored and said, or refused.
    enum Outcome: Equatable {
        case taken
        case said(String)
        case refused(String)
    }

    static let messages: [Message] = (try? read()) ?? []

    private static func read() throws -> [Message] {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        return try files.sorted().flatMap { name in
            let bytes = [UInt8](try Data(contentsOf: folder.appending(path: name)))
            let fixture = try JSONReader.object(bytes, limits: JSONLimits(maxBytes: 1_048_576))
            return try fixture.array("messages").map { value in
                guard case .object(let message) = value else { throw Malformed(file: name) }
                return try Message(library: fixture.string("library"), message)
            }
        }
    }

    /// The enrollment that the requests of the fixtures are for.
    static func facts() throws -> EnrollmentFacts {
        EnrollmentFacts(
            issuer: try IssuerURL("https://issuer.example"), authenticatorId: try #require(TokenID("k3yQm0Xv7bTzPwLd")),
            rpId: "issuer.example",
            credentialId: try #require(Base64URL.decode("OcaLvG5j0lAofKLbF1zJ27YW822QpvN5r402OhJJMuM")),
            canVerifyUser: true, exponentPolicy: .refuse)
    }

    /// The kinds of message that have other parsers, and so other tests.
    private static let kindsOfOthers: Set<String> = ["push", "httpRequest"]

    @Test func `every kind of message is run through its parser, and there are fixtures of each`() {
        let kinds = Set(Self.messages.map(\.kind))
        #expect(kinds.isSuperset(of: ["jwks", "jws", "creationOptions", "requestOptions"]))
        #expect(Set(Self.messages.map(\.library)).count >= 13)
    }

    @Test(arguments: messages.filter { !kindsOfOthers.contains($0.kind) })
    func `a library's message becomes what its fixture says`(message: Message) throws {
        let (outcome, reason) = try message.became().parts
        #expect(outcome == message.outcome.parts.word)
        if let expected = message.reason {
            #expect(reason.contains(expected), "\(reason)")
        }
        #expect(outcome == "taken" || message.reason != nil, "a fixture that is not taken must give the words for it")
    }
}

private struct Malformed: Error {
    let file: String
}

extension LibraryFixtureTests.Outcome {
    var parts: (word: String, reason: String) {
        switch self {
        case .taken: ("taken", "")
        case .said(let reason): ("said", reason)
        case .refused(let reason): ("refused", reason)
        }
    }
}

extension LibraryFixtureTests.Message {
    fileprivate init(library: String, _ message: JSONObject) throws {
        let outcome = try message.string("outcome")
        let reason = try message.optionalString("reason")
        self.init(
            library: library, kind: try message.string("kind"), what: try message.string("what"),
            value: try message.object("value"), outcome: try Self.outcome(outcome, reason ?? ""), reason: reason)
    }

    private static func outcome(_ word: String, _ reason: String) throws -> LibraryFixtureTests.Outcome {
        switch word {
        case "taken": .taken
        case "said": .said(reason)
        case "refused": .refused(reason)
        default: throw Malformed(file: "an outcome of \(word)")
        }
    }

    /// Runs the message through the parser of its kind.
    func became() throws -> LibraryFixtureTests.Outcome {
        switch kind {
        case "jwks": keySet()
        case "jws": try request()
        case "creationOptions": try creationOptions()
        case "requestOptions": try requestOptions()
        case "problem": try problem()
        default: throw Malformed(file: "a kind of \(kind)")
        }
    }

    private func keySet() -> LibraryFixtureTests.Outcome {
        do {
            let keys = try JWKSet(json: value.serialized())
            return keys.emptiness.map { .said($0) } ?? .taken
        } catch { return .refused("\(error)") }
    }

    private func request() throws -> LibraryFixtureTests.Outcome {
        let verdict = AuthnRequestReader.read(
            try value.string("token"), for: try LibraryFixtureTests.facts(),
            keys: try JWKSet(json: value.object("jwks").serialized()), now: try value.integer("at"))
        switch verdict {
        case .notAuthentic(let error): return .said(error.sentence)
        case .unknownKey(_, let reason): return .said(reason)
        case .unanswerable(let error): return .said(error.sentence)
        case .cancellation: return .taken
        case .request(let request):
            switch request.verdict {
            case .inOrder(let request):
                #expect(request.transaction.members.map(\.name).contains("merchantName"))
                return .taken
            case .refused(let refusal): return .refused(refusal.message)
            case .expired, .early, .tooEarly: return .said("not in its time")
            }
        }
    }

    private func creationOptions() throws -> LibraryFixtureTests.Outcome {
        let body: JSONObject = ["ceremonyId": "ceremony", "publicKey": .object(value)]
        do {
            let options = try EnrollmentOptionsAnswer(
                bytes: body.serialized(), from: IssuerURL("https://issuer.example")
            ).options
            #expect(options.rpId == "issuer.example" && options.userName == "cardholder")
            #expect(options.pubKeyCredParams.contains(-7), "ES256 must be among them")
            return .taken
        } catch { return .refused(error.description) }
    }

    private func requestOptions() throws -> LibraryFixtureTests.Outcome {
        let facts = try LibraryFixtureTests.facts()
        do {
            let options = try PublicKeyCredentialRequestOptions(json: value, host: facts.issuer.host)
            #expect(options.rpId == facts.rpId)
            #expect(options.allowCredentials.isEmpty || options.allowCredentials.contains(facts.credentialId))
            return .taken
        } catch { return .refused(error.description) }
    }

    /// An error answer is taken if its code ends what the agent is doing; else it counts as a broken connection.
    private func problem() throws -> LibraryFixtureTests.Outcome {
        let body = try #require(value["body"])
        let bytes = if case .string(let text) = body { Array(text.utf8) } else { body.serialized() }
        let problem = Problem(bytes: bytes, contentType: try value.optionalString("contentType"))
        return problem == nil ? .said("no problem with a code that is listed") : .taken
    }
}
