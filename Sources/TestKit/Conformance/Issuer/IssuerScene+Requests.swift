import FoundationEssentials
import IssuerProtocol
import StrictJSON
import TextAndTime
import ThreeDS
import WebAuthn

extension IssuerScene {
    /// The time limit from a purchase to the listing of its request.
    private static let listing = Duration.seconds(15)

    mutating func purchase(_ order: IssuerStep.PurchaseOrder, by name: String) async throws {
        try start(order, by: name)
        guard order.isListed else { return }
        let end = ContinuousClock.now + Self.listing
        let acsTransId = try known(order.name).acsTransId
        repeat {
            // With many listed requests it fetches from the cursor, but not with few: the cases about cursors have few.
            let cardholder = try cardholder(name)
            let cursor = cardholder.listedCount < 10 ? nil : cardholder.cursor
            let answer = try await list(
                wait: cursor.map { _ in "5" }, after: cursor, token: try token(.own, of: name))
            // If the issuer is busy, the fetch is repeated.
            guard [200, 429, 503].contains(answer.status) else {
                throw CaseEnd.failed("answered \(answer.shown) to a fetch; section 5 says 200")
            }
            if answer.status == 200 { try await learn(answer.body, of: name) }
            if requests[order.name]?.listed != nil { return }
            // If the purchase command has failed, this throws its error, which is the reason.
            _ = try known(order.name).output.value
            try await Task.sleep(for: .milliseconds(100))
        } while ContinuousClock.now < end
        throw CaseEnd.failed(
            "listed no request with the acsTransId \(acsTransId) within \(Self.listing.components.seconds) s of the purchase; section 5"
        )
    }

    /// Starts the purchase command, which may run until the payer has decided.
    private mutating func start(_ order: IssuerStep.PurchaseOrder, by name: String) throws {
        let (_, membership) = try member(name)
        let transaction = try transaction(of: order)
        var input: JSONObject = [
            "authenticatorId": .string(membership.authenticatorId.text), "transaction": .object(transaction),
            "lifetime": .integer(Int64(order.lifetime ?? 600)),
        ]
        input["userVerification"] = order.userVerification.map(JSONValue.string)
        input["payment"] = order.payment.map(JSONValue.object)
        let output = PurchaseOutput()
        requests[order.name] = KnownRequest(
            cardholder: name, transaction: transaction, output: output, wantsPayment: order.payment != nil,
            wantsVerification: order.userVerification == UserVerificationRequirement.required.rawValue)
        let (issuer, wire, trace) = (issuer, wire, trace)
        background { [input] in
            do {
                output.set(.success(try await issuer.output("purchase", input, wire: wire, trace: trace)))
            } catch let end as CaseEnd {
                output.set(.failure(end))
            } catch { output.set(.failure(.broken("\(error)"))) }
        }
    }

    private func transaction(of order: IssuerStep.PurchaseOrder) throws -> JSONObject {
        if let same = order.same { return try known(same).transaction }
        var transaction: JSONObject = [
            "acsTransId": .string(UUID().uuidString.lowercased()), "merchantName": "CoffeeHouse2",
            "purchaseAmount": "100", "purchaseCurrency": "840", "purchaseExponent": "2",
            "purchaseDate": .string(Self.date(clock.now)),
            "threeDSRequestorAppURL": "https://merchant.example/return?transID=1",
        ]
        for member in order.members { transaction[member.name] = .string(member.value) }
        for name in order.without { transaction[name] = nil }
        return transaction
    }

    /// Returns the time as YYYYMMDDHHMMSS in UTC.
    private static func date(_ seconds: Int64) -> String {
        let digits = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601).filter(\.isNumber)
        return String(digits.unicodeScalars.prefix(14))
    }

    // MARK: Lists

    private mutating func list(wait: String?, after: String?, token: String?) async throws -> WireAnswer {
        let query = [wait.map { "wait=\($0)" }, after.map { "after=\(PercentEncoding.encode($0))" }].compactMap(\.self)
        let url = try await discovered().authnRequestsEndpoint
        return try await ask(
            "GET", query.isEmpty ? url : "\(url)?\(query.joined(separator: "&"))", token: token,
            patience: min(wait.flatMap(Int64.init) ?? 0, 60))
    }

    mutating func fetch(
        wait: String?, after: IssuerStep.CursorChoice, _ choice: IssuerStep.TokenChoice, _ step: IssuerStep
    ) async throws {
        let answer = try await list(
            wait: wait, after: try cursor(after, of: step.cardholder), token: try token(choice, of: step.cardholder))
        try verify(answer, to: "a fetch", step.expected, usual: 200)
        guard answer.status == 200 else { return }
        try checkListed(try await learn(answer.body, of: step.cardholder), step.expected)
    }

    mutating func poll(_ seconds: Int, _ order: IssuerStep.PurchaseOrder, _ step: IssuerStep) async throws {
        // The purchase is made during the poll or before it begins: either way its request must come.
        try start(order, by: step.cardholder)
        let answer = try await list(
            wait: String(seconds), after: try cursor(.last, of: step.cardholder),
            token: try token(.own, of: step.cardholder))
        try verify(answer, to: "a long poll", step.expected, usual: 200)
        var expected = step.expected
        expected.lists.append(order.name)
        try checkListed(try await learn(answer.body, of: step.cardholder), expected)
    }

    private func cursor(_ choice: IssuerStep.CursorChoice, of name: String) throws -> String? {
        switch choice {
        case .none: return nil
        case .text(let text): return text
        case .last:
            guard let cursor = try cardholder(name).cursor else {
                throw CaseEnd.broken("the case has no cursor yet: a step `fetch` gets one")
            }
            return cursor
        }
    }

    /// The content of a list, by the case's names of requests.
    struct Listed {
        var requests: Set<String> = []
        var cancelled: Set<String> = []
        var count = 0
    }

    /// Reads a list, verifies each message in it, and keeps the messages of the case.
    @discardableResult
    mutating func learn(_ body: [UInt8], of name: String) async throws -> Listed {
        let list: RequestList
        do { list = try RequestList(bytes: body) } catch {
            throw CaseEnd.failed("the list of requests is not in order: \(error); section 5")
        }
        guard list.requests.count <= RequestList.limit else {
            throw CaseEnd.failed(
                "listed \(list.requests.count) requests at once; section 5 says at most \(RequestList.limit)")
        }
        cardholders[name]?.cursor = list.cursor
        return try await learn(list.requests, of: name)
    }

    private mutating func learn(_ messages: [String], of name: String) async throws -> Listed {
        let (cardholder, membership) = try member(name)
        guard let options = cardholder.options?.options else { return Listed() }
        let facts = EnrollmentFacts(
            issuer: issuer.url, authenticatorId: membership.authenticatorId, rpId: options.rpId,
            credentialId: cardholder.credentialId, canVerifyUser: true, exponentPolicy: .warn)
        if keys == nil { try await fetchKeys() }
        var (listed, lastIat, lastPlace) = (Listed(), Int64.min, 0)
        listed.count = messages.count
        for jws in messages {
            var verdict = AuthnRequestReader.read(jws, for: facts, keys: keys ?? JWKSet(keys: []), now: clock.now)
            if case .unknownKey = verdict {
                try await fetchKeys()
                verdict = AuthnRequestReader.read(jws, for: facts, keys: keys ?? JWKSet(keys: []), now: clock.now)
            }
            switch verdict {
            case .notAuthentic(let error):
                throw CaseEnd.failed("listed a message that is not authentic (\(error.rawValue)); section 6.1")
            case .unknownKey(_, let reason):
                throw CaseEnd.failed("listed a message that no key verifies: \(reason); section 3")
            case .unanswerable(let error):
                throw CaseEnd.failed("listed a message that cannot be answered (\(error.rawValue)); section 6.1")
            case .cancellation(let cancellation):
                guard !requests.values.contains(where: { $0.listed?.jti == cancellation.jti }) else {
                    throw CaseEnd.failed("listed a cancellation with the jti of a request; section 9")
                }
                for (name, request) in requests where request.listed?.jti == cancellation.cancels {
                    listed.cancelled.insert(name)
                }
            case .request(let request):
                switch request.verdict {
                case .inOrder(let message):
                    guard message.iat >= lastIat else {
                        throw CaseEnd.failed("listed a newer request before an older one; section 5")
                    }
                    lastIat = message.iat
                    guard let known = try keep(message) else { continue }
                    listed.requests.insert(known)
                    // Several requests may have the same second.
                    let place = requests[known]?.place ?? 0
                    guard place > lastPlace else {
                        throw CaseEnd.failed("listed a newer request before an older one; section 5")
                    }
                    lastPlace = place
                case .expired:
                    throw CaseEnd.failed("listed a request whose exp is past; section 5")
                case .early(let seconds), .tooEarly(let seconds):
                    throw CaseEnd.failed("listed a request whose iat is \(seconds) s ahead; section 6.1")
                case .refused(let refusal):
                    throw CaseEnd.failed("listed a request that an authenticator refuses: \(refusal); section 6.1")
                }
            }
        }
        return listed
    }

    /// Returns the name of a message's request, or `nil` if it belongs to no purchase of the case.
    private mutating func keep(_ message: AuthnRequest) throws -> String? {
        if let name = requests.first(where: { $0.value.listed?.jti == message.jti })?.key { return name }
        let acsTransId = message.transaction.acsTransId
        let candidates = requests.filter {
            $0.value.listed == nil && ACSTransactionID($0.value.acsTransId) == acsTransId
        }
        guard let (name, known) = candidates.min(by: { $0.key < $1.key }) else { return nil }
        for member in known.transaction.members {
            guard case .string(let asked) = member.value else { continue }
            let found = message.transaction.members.first { $0.name == member.name }?.value
            guard found.map({ $0.utf8.elementsEqual(asked.utf8) }) ?? false else {
                throw CaseEnd.failed(
                    "asked for \(EscapedText.of(member.name)) \(found.map { EscapedText.of($0) } ?? "nothing") where the purchase has \(EscapedText.of(asked)); section 6"
                )
            }
        }
        if requests.values.contains(where: { $0.listed?.nonce == message.nonce }) {
            throw CaseEnd.failed("used the nonce of another request again; section 6")
        }
        // A missing optional feature is not a fault of the issuer: the case is then not shown.
        if known.wantsPayment, message.payment == nil {
            throw CaseEnd.notShown("the request asks for no payment.get: `purchase` takes no `payment`")
        }
        if known.wantsVerification, message.options.userVerification != .required {
            throw CaseEnd.notShown("the request requires no user verification: `purchase` takes no `userVerification`")
        }
        let place = 1 + requests.values.count { $0.listed != nil }
        requests[name]?.place = place
        requests[name]?.listed = message
        cardholders[known.cardholder]?.listedCount += 1
        return name
    }

    private func checkListed(_ listed: Listed, _ expected: Expectation) throws {
        for name in expected.lists where !listed.requests.contains(name) {
            throw failed("did not list the request \(name)")
        }
        for name in expected.listsNot where listed.requests.contains(name) {
            throw failed("still listed the request \(name)")
        }
        for name in expected.cancels where !listed.cancelled.contains(name) {
            throw failed("listed no cancellation of the request \(name)")
        }
        if let isEmpty = expected.isEmpty, isEmpty != (listed.count == 0) {
            throw failed(isEmpty ? "listed \(listed.count) where nothing was new" : "listed nothing")
        }
    }

    mutating func batch(wait: Int, _ entries: [IssuerStep.BatchEntry], _ step: IssuerStep) async throws {
        guard let url = try await discovered().batchFetchEndpoint else {
            throw CaseEnd.notShown("the issuer has no batchFetchEndpoint")
        }
        var asked: [BatchFetchRequest.Entry] = []
        for entry in entries {
            let (_, membership) = try member(entry.cardholder)
            guard let token = try token(entry.token, of: entry.cardholder).flatMap({ AccessToken($0) }) else {
                continue
            }
            asked.append(
                BatchFetchRequest.Entry(
                    authenticatorId: membership.authenticatorId, accessToken: token,
                    after: try cursor(entry.after, of: entry.cardholder)))
        }
        let answer = try await ask(
            "POST", url, body: BatchFetchRequest(wait: wait, entries: asked).bytes, patience: Int64(wait))
        try verify(answer, to: "a batch fetch", step.expected, usual: 200)
        guard answer.status == 200 else { return }
        let results: [BatchFetchAnswer.Result]
        do { results = try BatchFetchAnswer(bytes: answer.body).results } catch {
            throw CaseEnd.failed("the answer to a batch fetch is not in order: \(error); section 5")
        }
        var listed = Listed()
        var problems = step.expected.problems
        for entry in entries {
            let id = try member(entry.cardholder).1.authenticatorId
            guard let result = results.first(where: { $0.authenticatorId == id }) else {
                guard entry.after == .none else { continue }
                throw failed("a batch fetch has no result for an entry without a cursor")
            }
            switch result.outcome {
            case .list(let list):
                cardholders[entry.cardholder]?.cursor = list.cursor
                let found = try await learn(list.requests, of: entry.cardholder)
                listed.requests.formUnion(found.requests)
                listed.count += found.count
            case .problem(let code):
                guard let code, problems.removeValue(forKey: entry.cardholder) == code.rawValue else {
                    throw failed(
                        "a batch fetch has the problem \(code?.rawValue ?? "without a code of section 10") for \(entry.cardholder)"
                    )
                }
            }
        }
        if let missing = problems.keys.min() { throw failed("a batch fetch has no problem for \(missing)") }
        try checkListed(listed, step.expected)
    }
}
