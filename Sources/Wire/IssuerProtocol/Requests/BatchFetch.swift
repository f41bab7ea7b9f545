package import StrictJSON

/// A call that fetches for many authenticators of one issuer.
package struct BatchFetchRequest: Sendable {
    package struct Entry: Sendable {
        package let authenticatorId: TokenID
        package let accessToken: AccessToken
        /// The cursor of this authenticator's last answer.
        ///
        /// `nil` asks for all listed requests.
        package let after: String?

        package init(authenticatorId: TokenID, accessToken: AccessToken, after: String?) {
            self.authenticatorId = authenticatorId
            self.accessToken = accessToken
            self.after = after
        }
    }

    /// The maximum number of authenticators in one call.
    package static let limit = 1_000
    /// The maximum size of such a body that is read: 2 MiB.
    package static let maxBytes = 2_097_152

    /// The seconds for which the issuer may delay the answer, 0 to 60.
    package let wait: Int
    /// 1 to 1,000 entries, each for another authenticator.
    package let entries: [Entry]

    package init(wait: Int, entries: [Entry]) {
        self.wait = wait
        self.entries = entries
    }

    package init(bytes: [UInt8]) throws(ProtocolError) {
        let limits = JSONLimits(maxBytes: Self.maxBytes)
        self = try ProtocolError.readingObject("batch fetch", in: bytes, limits: limits) { object in
            BatchFetchRequest(
                wait: Int(try object.integer("wait", in: 0...60)),
                entries: try object.objects("authenticators", count: 1...Self.limit, Entry.init(json:)))
        }
        guard Set(entries.map(\.authenticatorId)).count == entries.count else {
            throw ProtocolError(what: "must name each authenticator once", where: "batch fetch/authenticators")
        }
    }

    /// The body.
    ///
    /// It contains the tokens in clear, so use it for nothing else.
    package var bytes: [UInt8] {
        let body: JSONObject = [
            "wait": .integer(Int64(wait)), "authenticators": .array(entries.map { .object($0.json) }),
        ]
        return body.serialized()
    }
}

extension BatchFetchRequest.Entry {
    fileprivate init(json: JSONObject) throws(JSONMemberError) {
        self.init(
            authenticatorId: try json.tokenID("authenticatorId"), accessToken: try json.accessToken("accessToken"),
            after: try json.optionalCursor("after"))
    }

    fileprivate var json: JSONObject {
        var object: JSONObject = [
            "authenticatorId": .string(authenticatorId.text), "accessToken": .string(accessToken.reveal()),
        ]
        object["after"] = after.map { .string($0) }
        return object
    }
}

/// The answer to a batch fetch.
///
/// It has only the authenticators with a list of requests or a problem.
package struct BatchFetchAnswer: Sendable, Equatable {
    package struct Result: Sendable, Equatable {
        package let authenticatorId: TokenID
        package let outcome: Outcome

        package init(authenticatorId: TokenID, outcome: Outcome) {
            self.authenticatorId = authenticatorId
            self.outcome = outcome
        }
    }

    package enum Outcome: Sendable, Equatable {
        case list(RequestList)
        /// The reason why this authenticator gets no list.
        ///
        /// `nil` is a code unknown to the protocol, which ends nothing.
        case problem(ProblemCode?)
    }

    /// At most 1,000 results, each of another authenticator, with at most 100 requests in total.
    package let results: [Result]

    package init(results: [Result]) { self.results = results }

    package init(bytes: [UInt8]) throws(ProtocolError) {
        let limits = JSONLimits(maxBytes: RequestList.maxBytes)
        self = try ProtocolError.readingObject("batch fetch answer", in: bytes, limits: limits) { object in
            let limit = BatchFetchRequest.limit
            return BatchFetchAnswer(results: try object.objects("results", count: 0...limit, Result.init(json:)))
        }
        guard Set(results.map(\.authenticatorId)).count == results.count else {
            throw ProtocolError(what: "must name each authenticator once", where: "batch fetch answer/results")
        }
        guard results.map(\.requestCount).reduce(0, +) <= RequestList.limit else {
            throw ProtocolError(
                what: "must hold at most \(RequestList.limit) requests together", where: "batch fetch answer/results")
        }
    }

    package var json: JSONObject { ["results": .array(results.map { .object($0.json) })] }
}

extension BatchFetchAnswer.Result {
    fileprivate init(json: JSONObject) throws(JSONMemberError) {
        self.init(authenticatorId: try json.tokenID("authenticatorId"), outcome: try Self.outcome(json))
    }

    private static func outcome(_ json: JSONObject) throws(JSONMemberError) -> BatchFetchAnswer.Outcome {
        guard let problem = try json.optionalObject("problem") else { return .list(try RequestList(json: json)) }
        do throws(JSONMemberError) {
            return .problem(ProblemCode(exactly: try problem.string("code")))
        } catch {
            throw error.inside("problem")
        }
    }

    package var requestCount: Int {
        if case .list(let list) = outcome { list.requests.count } else { 0 }
    }

    fileprivate var json: JSONObject {
        var object: JSONObject
        switch outcome {
        case .list(let list): object = list.json
        case .problem(let code):
            var problem: JSONObject = [:]
            problem["code"] = code.map { .string($0.rawValue) }
            object = ["problem": .object(problem)]
        }
        object["authenticatorId"] = .string(authenticatorId.text)
        return object
    }
}

extension JSONObject {
    /// Reads an array of objects, each with `read`.
    fileprivate func objects<Element>(
        _ name: String, count: ClosedRange<Int>, _ read: (JSONObject) throws(JSONMemberError) -> Element
    ) throws(JSONMemberError) -> [Element] {
        var elements: [Element] = []
        for (index, element) in try array(name, count: count).enumerated() {
            do throws(JSONMemberError) {
                guard case .object(let object) = element else {
                    throw JSONMemberError(path: "", problem: "must be an object")
                }
                elements.append(try read(object))
            } catch {
                throw error.inside("\(index)").inside(name)
            }
        }
        return elements
    }
}
