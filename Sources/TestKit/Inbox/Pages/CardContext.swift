import Control
import PageServing

/// The card of a request, in a telephone's shape, for the templates.
enum CardContext {
    static func context(_ page: RequestPage, _ query: ListQuery) -> [String: Any] {
        let request = page.request
        let isPending = request.state == .pending
        var card: [String: Any] = [
            "id": request.id, "state": request.state.rawValue, "isPending": isPending, "time": times(request),
            "hasText": request.text != nil, "isDamaged": request.isDamaged, "version": version(of: page),
            "lines": (request.text ?? "").split(separator: "\n", omittingEmptySubsequences: false).map(line),
            "decides": isPending && page.mayDecide && request.textDigest != nil,
            "needsPIN": request.authnType == "pin", "form": page.formToken,
            "action": "/requests/\(request.id)/decide" + query.query(), "outcome": outcome(of: request),
            "isCard": page.tab == .card, "mayDecide": page.mayDecide,
            "copies": CopiedCommand.all(for: request).map { ["name": $0.name, "text": $0.text] },
        ]
        if let digest = request.textDigest { card["digest"] = digest }
        if let problem = page.problem { card["problem"] = PageText.text(problem) }
        if let url = request.threeDSRequestorAppURL, request.state == .approved {
            card["return"] = destination(url, isLink: page.schemes.allow(url))
        }
        if let bench = page.bench { card["test"] = test(bench, clock: request.clock) }
        return card
    }

    /// Another one if what is shown is another; so a PIN that is being typed stays if nothing is.
    private static func version(of page: RequestPage) -> String {
        let request = page.request
        let parts = [
            request.state.rawValue, request.delivery.rawValue, request.transStatus, request.textDigest,
            page.evidence.map { String($0.journal.entries.count) },
        ]
        return parts.map { $0 ?? "-" }.joined(separator: " ")
    }

    /// What the bar of the time that is left is drawn of, for the script; without it the time stands there.
    static func times(_ request: RequestView) -> [String: Any] {
        ["received": request.receivedAt, "expires": request.expiresAt ?? "", "hasEnd": request.expiresAt != nil]
    }

    /// A line of the agent's text as it is, in two parts; which label it has decides how large it stands.
    private static func line(_ text: Substring) -> [String: Any] {
        let label = text.prefix { $0 != ":" }
        let value = text.dropFirst(label.count).drop { $0 == ":" || $0 == " " }
        return [
            "label": String(text[..<value.startIndex]), "value": String(value), "isAmount": label == "Amount",
            "isWarning": label == "Warning",
        ]
    }

    /// The merchant's URL: a link if its scheme may be opened, and text to copy if not.
    ///
    /// A browser finds no scheme with `_`: a link would lead to a page of the inbox itself.
    private static func destination(_ url: String, isLink: Bool) -> [String: Any] {
        let scheme = OpenSchemes.scheme(of: url)
        return ["url": url, "scheme": PageText.text(scheme), "isLink": isLink && !scheme.contains("_")]
    }

    private static func test(_ bench: TestBench, clock: ClockView?) -> [String: Any] {
        [
            "personas": bench.personas.map { persona in
                [
                    "name": persona.name, "summary": PageText.text(persona.summary),
                    "isSet": persona.name == bench.persona,
                ] as [String: Any]
            },
            "hasPersonas": !bench.personas.isEmpty, "hasClock": clock?.isTest ?? false,
            "clock": clock?.offsetText ?? "", "isReplayable": bench.isReplayable,
        ]
    }

    private static func outcome(of request: RequestView) -> String {
        switch request.state {
        case .pending: "Pending"
        case .approved: "Approved" + answer(request)
        case .denied: "Denied" + (request.reason.map { " (\($0))" } ?? "") + answer(request)
        case .expired: "Expired: nobody decided in time"
        case .cancelled: "Cancelled by the issuer"
        case .refused: "Refused by the agent" + (request.refusal.map { ": \($0)" } ?? "")
        }
    }

    private static func answer(_ request: RequestView) -> String {
        switch request.delivery {
        case .delivered: request.transStatus.map { "; the issuer answered \($0)" } ?? ""
        case .queued: "; on its way to the issuer"
        case .failed: "; not delivered: \(PageText.text(request.deliveryError ?? request.deliveryFailure))"
        case .none: ""
        }
    }
}
