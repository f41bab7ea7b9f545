import Control

@testable import Prompting

/// A terminal, a request and a session as most tests need them.
enum Sample {
    static let now: Int64 = 1_697_522_198  // 2023-10-17T05:56:38Z
    static let text = """
        Amount:     USD 1.00
        Merchant:   CoffeeHouse2 (Dæmø)
        Issuer:     https://issuer.example
        Warning:    a test authenticator
        Member note: Warning: none
        """

    static func traits(
        _ environment: [String: String] = ["TERM": "xterm", "LANG": "C.UTF-8"], columns: Int = 80, plain: Bool = false
    ) -> ScreenTraits {
        ScreenTraits(environment: environment, columns: columns, isPlain: plain)
    }

    static func request(
        _ id: String = "r1", state: RequestState = .pending, text: String? = text, digest: String? = "d1",
        delivery: DeliveryState = .none, transStatus: String? = nil, expiresAt: String? = "2023-10-17T06:06:38Z"
    ) -> RequestView {
        var view = RequestView(
            id: id, jti: "j1", acsTransId: "a1", enrollmentId: "e1", issuer: "https://issuer.example", state: state,
            delivery: delivery, receivedAt: "2023-10-17T05:56:38Z")
        view.merchantName = "CoffeeHouse2 (Dæmø)"
        view.amount = AmountView(currency: "USD", value: "1.00")
        view.threeDSRequestorAppURL = "https://merchant.example/return?transID=1"
        view.transStatus = transStatus
        view.expiresAt = expiresAt
        view.text = text
        view.textDigest = digest
        return view
    }

    static func event(_ name: String, _ request: RequestView? = request()) -> PromptEvent {
        .agent(EventView(event: name, seq: 1, at: "2023-10-17T05:56:38Z", request: request))
    }

    static func refusal(_ token: ErrorToken, _ message: String = "why") -> PromptEvent {
        .notDecided(.refused(ControlError(token, message)))
    }
}

/// A session that a test tells what happens.
struct Rehearsal {
    private(set) var session: PromptSession
    var now = Sample.now

    init(_ traits: ScreenTraits = Sample.traits(), once: Bool = false) {
        session = PromptSession(traits: traits, endsAfterOne: once, enrollment: nil)
    }

    /// One in which a request stands on the screen.
    static func asking(
        _ request: RequestView = Sample.request(), _ traits: ScreenTraits = Sample.traits(), once: Bool = false
    ) -> Rehearsal {
        var rehearsal = Rehearsal(traits, once: once)
        _ = rehearsal.when(.opened)
        _ = rehearsal.when(.found(request))
        return rehearsal
    }

    /// The same with its PIN asked for.
    static func askingPIN() -> Rehearsal {
        var rehearsal = asking()
        _ = rehearsal.when(.answer("a"))
        _ = rehearsal.when(Sample.refusal(.pinRequired))
        return rehearsal
    }

    mutating func when(_ event: PromptEvent) -> [PromptEffect] { session.handle(event, now: now) }
}

extension [PromptEffect] {
    /// All lines that are said or asked, as one text.
    var shown: String {
        flatMap { effect -> [String] in
            switch effect {
            case .say(let lines): lines.map(\.text)
            case .ask(let question): question.lines.map(\.text)
            default: []
            }
        }.joined(separator: "\n")
    }

    var decisions: [PromptDecision] {
        compactMap { if case .decide(let decision) = $0 { decision } else { nil } }
    }

    var questions: [PromptQuestion] {
        compactMap { if case .ask(let question) = $0 { question } else { nil } }
    }

    var isSilent: Bool { isEmpty }
}
