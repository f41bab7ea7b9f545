import Control
import PageServing
import SequenceDiagrams

/// The data of a page with a request, besides its list.
struct RequestPage: Sendable {
    let request: RequestView
    let tab: CardTab
    /// The schemes whose return URLs are shown as links.
    let schemes: OpenSchemes
    /// The evidence.
    ///
    /// `nil` on the card tab, which does not need it.
    var evidence: EvidenceView?
    /// The test settings, for a `test` enrollment.
    var bench: TestBench?
    var mayDecide = false
    var formToken = ""
    /// The reason why the last action failed.
    var problem: String?
    /// The address of the purchase at the sandbox, if the issuer is one.
    var sandboxLink: String?
}

/// The settings that a tester can change for a request of a `test` enrollment.
struct TestBench: Sendable {
    /// The personas to choose from; empty if the agent was built without personas.
    let personas: [PersonaChoiceView]
    /// The name of the current persona.
    let persona: String?
    let isReplayable: Bool
}

/// The pages, rendered on the server; the templates escape every value but the style sheet.
enum Pages {
    /// Renders the list, with one request beside it.
    static func inbox(
        _ query: ListQuery, rows: [RequestView], next: String?, mayDecide: Bool, shown: RequestPage?,
        clock: ClockView?
    ) -> String {
        var context: [String: Any] = [
            "title": shown.map { title($0.request) } ?? "Inbox", "all": query.all, "count": rows.count,
            "hasRows": !rows.isEmpty, "mayDecide": mayDecide,
            "rows": rows.map { row($0, query, isCurrent: $0.id == shown?.request.id) },
        ]
        if let clock { context["clockOffset"] = String(clock.offsetSeconds) }
        if !query.text.isEmpty { context["query"] = query.text }
        if let next { context["next"] = "/" + query.query(before: next) }
        if query.before != nil { context["newest"] = query.newest }
        if let shown { context["shown"] = self.shown(shown, query) }
        return Templates.render("inbox", context)
    }

    /// Renders a page with one sentence.
    ///
    /// - Parameters:
    ///   - link: the target of the page's link, or `nil` for none.
    ///   - isWaiting: whether the page reloads by itself.
    static func notice(
        _ title: String, _ sentence: String, link: String? = "/", isWaiting: Bool = false
    ) -> String {
        var context: [String: Any] = ["title": title, "sentence": PageText.text(sentence), "isWaiting": isWaiting]
        if let link { context["link"] = link }
        return Templates.render("notice", context)
    }

    /// Renders the page for a refused connection or an unreadable request.
    ///
    /// Its style is inline, because the client cannot load a second file.
    static func refusal(_ title: String, _ sentence: String) -> String {
        Templates.render(
            "refusal", ["title": title, "sentence": sentence, "style": String(decoding: PageStyle.css, as: UTF8.self)])
    }

    /// Renders a page that redirects to another page of the inbox by itself.
    static func entrance(to place: String) -> String {
        Templates.render(
            "notice",
            [
                "title": "Inbox", "sentence": "This page leads on.", "place": place, "link": "/", "isWaiting": false,
            ])
    }

    /// Renders the page of the one-time link, with the button that starts the session.
    static func entrance(with token: String) -> String {
        Templates.render(
            "notice",
            [
                "title": "Inbox", "sentence": "The button opens the inbox in this browser. It works once.",
                "token": token, "isWaiting": false,
            ])
    }

    /// Renders one page with all data of a request; it loads no other file and needs no agent.
    ///
    /// - Parameters:
    ///   - json: the evidence as the agent returned it.
    ///   - now: the time, RFC 3339 in UTC.
    static func export(_ evidence: EvidenceView, json: [UInt8], schemes: OpenSchemes, now: String) -> String {
        var request = evidence.request
        request.text = evidence.text
        let page = RequestPage(request: request, tab: .card, schemes: schemes)
        let story = RequestStory(evidence)
        var context = CardContext.context(page, ListQuery(PageForm()))
        context["title"] = title(request)
        context["style"] = String(decoding: PageStyle.css, as: UTF8.self)
        context["writtenAt"] = now
        context["wire"] = WireParts.context(evidence)
        context["events"] = events(story)
        context["evidence"] = self.evidence(evidence, link: nil)
        context["json"] = PageText.json(json)
        if let diagram = story.diagram {
            context["sequence"] = ["diagram": PageText.base64(Array(diagram.svg.utf8)), "list": diagram.list]
        }
        return Templates.render("export", context)
    }

    private static func title(_ request: RequestView) -> String {
        [request.amountText ?? "No payment", request.merchantName.map { PageText.text($0) }].compactMap(\.self)
            .joined(separator: ", ")
    }

    private static func row(_ request: RequestView, _ query: ListQuery, isCurrent: Bool) -> [String: Any] {
        [
            "link": "/requests/\(request.id)" + query.query(), "isCurrent": isCurrent,
            "amount": request.amountText ?? "No payment", "merchant": PageText.text(request.merchantName),
            "state": request.state.rawValue, "isPending": request.state == .pending,
            "enrollment": PageText.text(request.enrollmentName), "issuer": PageText.text(request.issuer),
            "time": CardContext.times(request),
        ]
    }

    private static func shown(_ page: RequestPage, _ query: ListQuery) -> [String: Any] {
        let id = page.request.id
        var context = CardContext.context(page, query)
        context["tabs"] = CardTab.allCases.map { tab in
            [
                "link": "/requests/\(id)" + query.query(tab: tab), "title": tab.title, "isCurrent": tab == page.tab,
            ] as [String: Any]
        }
        guard let evidence = page.evidence else { return context }
        switch page.tab {
        case .card: break
        case .wire: context["wire"] = WireParts.context(evidence)
        case .sequence:
            let diagram = RequestStory(evidence).diagram
            var sequence: [String: Any] = ["hasDiagram": diagram != nil, "list": diagram?.list ?? ""]
            if let link = page.sandboxLink { sequence["sandbox"] = ["link": link] }
            context["sequence"] = sequence
        case .evidence: context["evidence"] = self.evidence(evidence, link: "/requests/\(id)/evidence.json")
        case .events: context["events"] = events(RequestStory(evidence))
        }
        return context
    }

    private static func evidence(_ evidence: EvidenceView, link: String?) -> [String: Any] {
        let checks = evidence.checks.isEmpty ? [] : [EvidenceCheck.preparation] + evidence.checks
        var context: [String: Any] = [
            "id": evidence.request.id, "hasGaps": !evidence.gaps.isEmpty,
            "gaps": evidence.gaps.map { ["what": $0.what, "why": $0.why] },
            "checks": checks.map { ["title": $0.title, "explanation": $0.explanation, "commands": $0.commands] },
        ]
        if let link { context["link"] = link }
        return context
    }

    private static func events(_ story: RequestStory) -> [String: Any] {
        [
            "hasEntries": !story.entries.isEmpty,
            "entries": story.entries.map { entry in
                [
                    "seq": String(entry.seq), "at": entry.at, "kind": PageText.text(entry.kind),
                    "members": entry.members.map { ["name": $0.name, "value": $0.value] },
                ] as [String: Any]
            },
        ]
    }
}
