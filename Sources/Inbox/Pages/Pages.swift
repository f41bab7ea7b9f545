import Control
import FoundationEssentials
import PageServing
import StrictJSON
import ThreeDS

/// The pages, rendered on the server; every value is escaped by the template.
enum Pages {
    static func inbox(_ view: InboxView) -> String {
        let found = view.requests.filter(view.filter.takes)
        let first = (view.filter.page - 1) * ListFilter.rows
        let rows = found.dropFirst(first).prefix(ListFilter.rows)
        var context: [String: Any] = [
            "title": view.shown.map(Self.title) ?? "Inbox", "all": view.filter.all, "count": found.count,
            "hasRows": !rows.isEmpty, "mayDecide": view.mayDecide,
            "rows": rows.map { row($0, view) }, "isLive": true,
        ]
        if !view.filter.text.isEmpty { context["query"] = PageText.text(view.filter.text) }
        if first + ListFilter.rows < found.count {
            context["next"] = "/" + view.filter.query(page: view.filter.page + 1)
        }
        if view.filter.page > 1 { context["previous"] = "/" + view.filter.query(page: view.filter.page - 1) }
        if let shown = view.shown { context["shown"] = card(shown, view) }
        return Templates.render("inbox", context)
    }

    /// A page with one sentence.
    ///
    /// - Parameter isWaiting: whether it asks again by itself.
    static func notice(_ title: String, _ sentence: String, isWaiting: Bool = false) -> String {
        Templates.render(
            "notice", ["title": title, "sentence": PageText.text(sentence), "isWaiting": isWaiting])
    }

    private static func title(_ request: RequestView) -> String {
        let amount = request.amountText ?? "No payment"
        return "\(amount), \(PageText.text(request.merchantName))"
    }

    private static func row(_ request: RequestView, _ view: InboxView) -> [String: Any] {
        [
            "link": "/requests/\(request.id)" + view.filter.query(), "isCurrent": request.id == view.shown?.id,
            "amount": request.amountText ?? "No payment", "merchant": PageText.text(request.merchantName),
            "state": request.state.rawValue, "isPending": request.state == .pending,
            "enrollment": PageText.text(request.enrollmentName), "issuer": PageText.text(request.issuer),
            "time": times(request),
        ]
    }

    /// What the bar of the time that is left is drawn of, for the script; without it the time stands there.
    private static func times(_ request: RequestView) -> [String: Any] {
        ["received": request.receivedAt, "expires": request.expiresAt ?? "", "hasEnd": request.expiresAt != nil]
    }

    private static func card(_ request: RequestView, _ view: InboxView) -> [String: Any] {
        let isPending = request.state == .pending
        var card: [String: Any] = [
            "id": request.id, "acsTransId": PageText.text(request.acsTransId), "state": request.state.rawValue,
            "isPending": isPending, "time": times(request), "digest": request.textDigest ?? "",
            "lines": (request.text ?? "").split(separator: "\n", omittingEmptySubsequences: false).map(line),
            "decides": isPending && view.mayDecide && request.textDigest != nil, "needsPIN": view.needsPIN,
            "form": view.formToken, "action": "/requests/\(request.id)/decide" + view.filter.query(),
            "outcome": outcome(of: request), "hasOutcome": !isPending,
            "tabs": CardTab.allCases.map { tab in
                [
                    "link": "/requests/\(request.id)" + view.filter.query(tab: tab), "title": tab.title,
                    "isCurrent": tab == view.tab,
                ] as [String: Any]
            },
            "isCard": view.tab == .card, "curl": curl(request), "oobctl": "oobctl approve \(request.id)",
        ]
        if let problem = view.problem { card["problem"] = PageText.text(problem) }
        if let url = request.threeDSRequestorAppURL, request.state == .approved {
            card["return"] = ["url": url, "scheme": String(url.prefix { $0 != ":" })]
        }
        if let evidence = view.evidence {
            if view.tab == .wire { card["wire"] = wire(evidence) }
            if view.tab == .evidence { card["evidence"] = ["link": "/requests/\(request.id)/evidence.json"] }
        }
        return card
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

    private static func outcome(of request: RequestView) -> String {
        switch request.state {
        case .pending: ""
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

    private static func curl(_ request: RequestView) -> String {
        "curl --unix-socket \"$OOB_AGENT_SOCKET\" http://agent/v1/requests/\(request.id)"
    }

    /// What went over the wire, taken apart.
    private static func wire(_ evidence: EvidenceView) -> [String: Any] {
        var parts: [[String: Any]] = []
        func add(_ title: String, _ text: String?) {
            if let text, !text.isEmpty { parts.append(["title": title, "text": text]) }
        }
        let message = evidence.message?.split(separator: ".").map { Base64URL.decode(String($0)) ?? [] } ?? []
        if message.count == 3 {
            add("Request: header", PageText.json(message[0]))
            add("Request: claims", PageText.json(message[1]))
        }
        add("Nonce (base64url)", evidence.nonce)
        add(
            "Transaction in canonical form (RFC 8785); the challenge is SHA-256 of oob-authn-v1, 00, nonce and this",
            evidence.transaction.map { PageText.text($0) })
        if let assertion = evidence.assertion {
            add("Assertion: client data", PageText.json(Base64URL.decode(assertion.clientDataJSON) ?? []))
            let data = Base64URL.decode(assertion.authenticatorData) ?? []
            if data.count >= 37 {
                let count = data[33..<37].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                let flags = [(UInt8(0x01), "UP"), (0x04, "UV")].filter { data[32] & $0.0 != 0 }.map(\.1)
                add("Assertion: authenticator data", "flags \(flags.joined(separator: " "))\nsignCount \(count)")
            }
            add("Assertion: signature (base64url)", assertion.signature)
        }
        add("Decision as it was sent", evidence.decision.map { PageText.json(Base64URL.decode($0) ?? Array($0.utf8)) })
        return ["parts": parts]
    }
}
