import Control
import HTTPServing
import HTTPTypes
import Hummingbird
import NIOCore
import PageServing
import SequenceDiagrams

/// Answers a browser.
struct InboxResponder: Sendable {
    let agent: InboxAgent
    let mayDecide: Bool
    let sessions: Sessions
    let guarding: PageGuard
    let sandbox = SandboxCalls()
    let streams = StreamCount()
    /// Told when a link was used, so that the next one is shown.
    let onLinkUsed: @Sendable () -> Void

    /// What a call comes to, and whether it was a good one, which earns its client more time.
    func answer(to request: Request, from peer: PatientChannel.Peer) async -> (response: Response, isGood: Bool) {
        guard guarding.knows(request.head) else { return (PageAnswer.notice(.notOurName), false) }
        // A link may be followed from anywhere, such as a terminal in another page: who has it may use it.
        if request.method == .get, request.uri.path == "/enter" { return enter(request) }
        guard guarding.admits(request.head) else { return (PageAnswer.notice(.notThisPage), false) }
        // The browser shows the cookie only once this page itself leads on.
        if PageGuard.isFromElsewhere(request.head) {
            return (PageAnswer.page(Pages.entrance(to: Self.place(of: request))), true)
        }
        switch (request.method, request.uri.path) {
        case (.get, "/style.css"): return (PageAnswer.file(PageStyle.css, "text/css; charset=utf-8"), true)
        case (.get, "/script.js"):
            return (PageAnswer.file(PackageResources.inbox_js, "text/javascript; charset=utf-8"), true)
        case (.get, "/icon.svg"): return (PageAnswer.file(PackageResources.icon_svg, PageAnswer.svg), true)
        default: break
        }
        guard let session = Self.cookies(of: request)[sessions.cookie].flatMap(sessions.session) else {
            return (PageAnswer.notice(.noSession), false)
        }
        do throws(ClientError) {
            return (try await answer(to: request, from: peer, in: session), true)
        } catch {
            return (PageAnswer.failure(error), true)
        }
    }

    /// Uses the link up, and leads to the page under an address without it.
    private func enter(_ request: Request) -> (Response, Bool) {
        guard let token = request.uri.queryParameters["token"], let session = sessions.enter(String(token)) else {
            return (PageAnswer.notice(.usedLink), false)
        }
        onLinkUsed()
        var response =
            PageGuard.isFromElsewhere(request.head)
            ? PageAnswer.page(Pages.entrance(to: "/")) : PageAnswer.redirect(to: "/")
        response.headers[.referrerPolicy] = "no-referrer"
        response.headers[.setCookie] = "\(sessions.cookie)=\(session.id); \(sessions.cookieAttributes)"
        return (response, true)
    }

    private func answer(
        to request: Request, from peer: PatientChannel.Peer, in session: Sessions.Session
    ) async throws(ClientError) -> Response {
        let path = request.uri.path.split(separator: "/").map(String.init)
        guard path.first == "requests", path.count == 2 || path.count == 3 else {
            switch (request.method, request.uri.path) {
            case (.get, "/"): return try await start(request, session)
            case (.get, "/events"):
                guard let place = streams.take() else { return PageAnswer.notice(.tooManyWindows) }
                peer.hasSentAll()
                peer.takesLong()
                return EventRelay(agent: agent, place: place).response
            default: return PageAnswer.notice(.noPage)
            }
        }
        switch (request.method, path.count == 3 ? path[2] : "") {
        case (.get, ""):
            return PageAnswer.page(try await page(showing: path[1], request, session))
        case (.get, "evidence.json"): return try await evidence(of: path[1])
        case (.get, "sequence.svg"):
            let story = RequestStory(try await agent.evidence(of: path[1]))
            return story.diagram.map { PageAnswer.drawing(Array($0.svg.utf8)) } ?? PageAnswer.notice(.noPage)
        case (.get, "purchase.svg"):
            let drawing = await sandbox.diagram(of: try await agent.request(path[1]))
            return drawing.map(PageAnswer.drawing) ?? PageAnswer.notice(.noPage)
        case (.post, let action):
            guard mayDecide else { return PageAnswer.notice(.onlyLooking) }
            guard let form = await Self.form(request), let token = form["form"],
                Sessions.areEqual(token, session.formToken)
            else { return PageAnswer.notice(.notOurForm) }
            return try await act(action, on: path[1], form, request, session)
        default: return PageAnswer.notice(.noPage)
        }
    }

    /// The list; if there is a request, under that request's own address, so that no other one takes its place there.
    private func start(_ request: Request, _ session: Sessions.Session) async throws(ClientError) -> Response {
        let query = ListQuery(Self.query(of: request))
        let (rows, next) = try await agent.list(query)
        if let first = rows.first { return PageAnswer.redirect(to: "/requests/\(first.id)" + query.query()) }
        let clock = try await agent.client().clock()
        return PageAnswer.page(
            Pages.inbox(
                query, rows: rows, next: next, mayDecide: mayDecide, shown: nil, clock: clock.isTest ? clock : nil))
    }

    /// A page of the inbox's own, and no other address.
    private static func place(of request: Request) -> String {
        let path = request.uri.path.split(separator: "/").map(String.init)
        let form = query(of: request)
        let tab = form["tab"].flatMap { CardTab(rawValue: $0) } ?? .card
        guard path.count == 2, path[0] == "requests", ListQuery.isID(path[1]) else { return ListQuery(form).newest }
        return "/requests/\(path[1])" + ListQuery(form).query(tab: tab)
    }

    private static func query(of request: Request) -> PageForm {
        PageForm(Array((request.uri.query ?? "").utf8)) ?? PageForm()
    }

    /// Nil for a body that is no form, is too long, or does not come in time.
    private static func form(_ request: Request) async -> PageForm? {
        let body = try? await request.body.collect(upTo: PageForm.maxBytes)
        return body.flatMap { PageForm(Array($0.readableBytesView)) }
    }

    /// The page with one request beside the list.
    ///
    /// - Parameter problem: why what was asked for was not done.
    func page(
        showing id: String, _ request: Request, _ session: Sessions.Session, problem: String? = nil
    ) async throws(ClientError) -> String {
        let form = Self.query(of: request)
        let query = ListQuery(form)
        let (rows, next) = try await agent.list(query)
        let found = try await agent.request(id)
        let tab = form["tab"].flatMap { CardTab(rawValue: $0) } ?? .card
        var page = RequestPage(
            request: found, tab: tab, mayDecide: mayDecide, formToken: session.formToken, problem: problem)
        if tab != .card { page.evidence = try await agent.evidence(of: found.id) }
        if tab == .sequence { page.sandboxLink = await sandbox.link(to: found) }
        if tab == .card, found.authnType == "test" { page.bench = try await agent.bench(of: found) }
        return Pages.inbox(query, rows: rows, next: next, mayDecide: mayDecide, shown: page, clock: found.clock)
    }

    private func evidence(of id: String) async throws(ClientError) -> Response {
        let evidence = try await agent.evidence(of: id)
        let json: [UInt8]
        do throws(ControlError) { json = try ControlJSON.encode(evidence) } catch { throw .refused(error) }
        var response = PageAnswer.file(json, "application/json")
        response.headers[.contentDispositionField] = "attachment; filename=\"evidence-\(evidence.request.id).json\""
        return response
    }

    private static func cookies(of request: Request) -> [String: String] {
        var cookies: [String: String] = [:]
        for pair in (request.headers[.cookie] ?? "").split(separator: ";").prefix(32) {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            cookies[String(parts[0].drop { $0 == " " })] = String(parts[1])
        }
        return cookies
    }
}
