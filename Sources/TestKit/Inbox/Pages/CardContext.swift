import Control
import PageServing

/// The template values of a request's card, which has the shape of a telephone.
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

    /// Returns a version of the shown content; while it stays the same, a PIN that is being typed stays.
    private static func version(of page: RequestPage) -> String {
        let request = page.request
        let parts = [
            request.state.rawValue, request.delivery.rawValue, request.transStatus, request.textDigest,
            page.evidence.map { String($0.journal.entries.count) },
        ]
        return parts.map { $0 ?? "-" }.joined(separator: " ")
    }

    /// Returns the times from which the script draws the remaining time; without the script, they are text.
    static func times(_ request: RequestView) -> [String: Any] {
        ["received": request.receivedAt, "expires": request.expiresAt ?? "", "hasEnd": request.expiresAt != nil]
    }

    /// Splits a line of the agent's text, unchanged, into label and value; the label decides the size.
    private static func line(_ text: Substring) -> [String: Any] {
        let label = text.prefix { $0 != ":" }
        let value = text.dropFirst(label.count).drop { $0 == ":" || $0 == " " }
        return [
            "label": String(text[..<value.startIndex]), "value": String(value), "isAmount": label == "Amount",
            "isWarning": label == "Warning",
        ]
    }

    /// Returns the merchant's URL as a link if its scheme may be opened, else as text to copy.
    ///
    /// A browser accepts no scheme with `_`: such a link would lead to a page of the inbox itself.
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
