import FoundationEssentials
import IssuerProtocol
import Keys
import StrictJSON
import TextAndTime
import WebAuthn

/// The state of a case against an issuer: its cardholders, its requests, and the last answer.
struct IssuerScene {
    let issuer: TestedIssuer
    let wire: Wire
    let clock: TestedClock
    let trace: Trace
    /// The header of the case, for the message of a failure.
    let header: CaseHeader
    /// Starts work that may continue until the case ends.
    let background: @Sendable (@escaping @Sendable () async -> Void) -> Void

    var discovery: Discovery?
    var keys: JWKSet?
    var cardholders: [String: Cardholder] = [:]
    var requests: [String: KnownRequest] = [:]
    private(set) var lastBody: [UInt8]?

    init(
        issuer: TestedIssuer, wire: Wire, clock: TestedClock, trace: Trace, header: CaseHeader,
        background: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Void
    ) {
        self.issuer = issuer
        self.wire = wire
        self.clock = clock
        self.trace = trace
        self.header = header
        self.background = background
    }

    mutating func play(_ step: IssuerStep) async throws {
        switch step.action {
        case .discover: try await discover(step.expected)
        case .keys: try await fetchKeys()
        case .options(let code): try await options(code, step)
        case .register(let registration): try await register(registration, step)
        case .enroll(let registration): try await enroll(registration, step)
        case .purchase(let order): try await purchase(order, by: step.cardholder)
        case .poll(let seconds, let order): try await poll(seconds, order, step)
        case .fetch(let wait, let after, let token): try await fetch(wait: wait, after: after, token, step)
        case .batch(let wait, let entries): try await batch(wait: wait, entries, step)
        case .decide(let order): try await decide(order, step)
        case .status(let token): try await status(token, step)
        case .unenroll(let token): try await unenroll(token, step)
        case .subscribe(let endpoint): try await subscribe(endpoint, step)
        case .unsubscribe: try await unsubscribe(step)
        case .cancel(let name): try await cancel(name)
        case .outcome(let name): try await outcome(of: name, step)
        case .clock(let seconds): try await moveClock(by: Int64(seconds))
        case .expire(let name): try await expire(name)
        case .call(let call): try await callAsWritten(call, step)
        }
    }

    // MARK: What every step needs

    func failed(_ what: String) -> CaseEnd { .failed("\(what); section \(header.section)") }

    /// Calls the issuer; if it does not answer, the case fails.
    func ask(
        _ method: String, _ url: String, token: String? = nil, body: [UInt8]? = nil, patience: Int64 = 0
    ) async throws -> WireAnswer {
        do {
            return try await wire.answer(method, url, token: token, body: body, patience: patience, trace: trace)
        } catch { throw CaseEnd.failed("the issuer \(error), asked by \(method) \(url)") }
    }

    /// Verifies an answer against the case's expectation, or else against `usual`.
    ///
    /// - Parameter what: the call, as the start of a sentence.
    mutating func verify(
        _ answer: WireAnswer, to what: String, _ expected: Expectation, usual: Int
    ) throws {
        let statuses = expected.statuses ?? [usual]
        let wanted = statuses.map(String.init).joined(separator: " or ") + (expected.code.map { " \($0)" } ?? "")
        guard statuses.contains(answer.status) else {
            let verb =
                (200..<300).contains(answer.status) && statuses.allSatisfy { $0 >= 400 }
                ? "accepted" : "answered \(answer.shown) to"
            throw CaseEnd.failed("\(verb) \(what); section \(header.section) says \(wanted)")
        }
        if let code = expected.code {
            guard answer.code == code else {
                throw CaseEnd.failed(
                    "answered \(answer.shown) without the code \(code) to \(what); section \(header.section) says \(wanted)"
                )
            }
            let type = answer.contentType?.split(separator: ";").first.map { $0.lowercased() } ?? "no content type"
            guard type.trimmingPrefix(while: \.isWhitespace) == Problem.contentType else {
                throw CaseEnd.failed(
                    "answered \(what) with \(EscapedText.of(type)); section 2 says \(Problem.contentType)")
            }
        }
        if expected.same, answer.body != lastBody {
            throw CaseEnd.failed("answered \(what) otherwise than before; section \(header.section) says the same")
        }
        lastBody = answer.body
        if let most = expected.within, answer.seconds > Double(most) {
            throw failed("answered \(what) after \(Int(answer.seconds)) s, and not within \(most) s")
        }
        if let least = expected.notBefore, answer.seconds < Double(least) - 0.1 {
            throw failed("answered \(what) within \(Int(answer.seconds)) s, and not after \(least) s or more")
        }
    }

    /// Returns the discovery document, which is fetched once in a case.
    mutating func discovered() async throws -> Discovery {
        if let discovery { return discovery }
        try await discover(Expectation())
        guard let discovery else { throw CaseEnd.broken("no discovery document") }
        return discovery
    }

    func cardholder(_ name: String) throws -> Cardholder {
        guard let cardholder = cardholders[name] else {
            throw CaseEnd.broken("the case has no cardholder \(name) yet: a step `enroll` or `options` makes one")
        }
        return cardholder
    }

    func member(_ name: String) throws -> (Cardholder, EnrollmentAnswer) {
        let cardholder = try cardholder(name)
        guard let membership = cardholder.membership else {
            throw CaseEnd.broken("the case's cardholder \(name) is not enrolled yet")
        }
        return (cardholder, membership)
    }

    func known(_ name: String) throws -> KnownRequest {
        guard let request = requests[name] else {
            throw CaseEnd.broken("the case has no request \(name): a step `purchase` with `as: \(name)` makes one")
        }
        return request
    }

    func token(_ choice: IssuerStep.TokenChoice, of cardholder: String) throws -> String? {
        switch choice {
        case .none: nil
        case .own: try member(cardholder).1.accessToken.reveal()
        case .wrong: Base64URL.encode(try SecureRandom.bytes(24))
        case .other:
            try member(cardholders.keys.sorted().first { $0 != cardholder } ?? "second").1.accessToken.reveal()
        }
    }

    // MARK: Discovery

    private mutating func discover(_ expected: Expectation) async throws {
        let answer = try await ask("GET", issuer.url.text + Discovery.path)
        try verify(answer, to: "the call for the discovery document", expected, usual: 200)
        do { discovery = try Discovery(json: answer.body, expected: issuer.url) } catch {
            throw CaseEnd.failed("the discovery document is not in order: \(error); section 3")
        }
    }

    mutating func fetchKeys() async throws {
        let answer = try await ask("GET", try await discovered().jwksUri)
        guard answer.status == 200 else { throw CaseEnd.failed("answered \(answer.shown) to GET jwksUri; section 3") }
        do { keys = try JWKSet(json: answer.body) } catch {
            throw CaseEnd.failed("the JWK Set is not in order: \(error); section 3")
        }
    }

    // MARK: Clocks

    private func moveClock(by seconds: Int64) async throws {
        try await clock.move(issuer, by: seconds, wire: wire, trace: trace)
    }

    private func expire(_ name: String) async throws {
        guard let request = try known(name).listed else {
            throw CaseEnd.broken("the case waits for the end of \(name), which was not listed")
        }
        let left = request.exp - clock.now
        guard left >= 0 else { return }
        if left <= 15 {
            try await Task.sleep(for: .seconds(left + 1))
        } else if issuer.has("clock") {
            try await moveClock(by: left + 1)
        } else {
            throw CaseEnd.notShown(
                "the request lives for \(left) s more: `purchase` takes no lifetime, and there is no `clock`")
        }
    }

    private mutating func callAsWritten(_ call: IssuerStep.RawCall, _ step: IssuerStep) async throws {
        guard case .string(let endpoint)? = try await discovered().json[call.endpoint] else {
            throw CaseEnd.notShown("the discovery document has no \(call.endpoint)")
        }
        let answer = try await ask(
            call.method, endpoint + call.path, token: try token(call.token, of: step.cardholder),
            body: call.body.map { Array($0.utf8) })
        try verify(answer, to: "\(call.method) \(call.endpoint)\(call.path)", step.expected, usual: 200)
    }
}
