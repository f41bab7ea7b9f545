import Control
import HTTPServing
import HTTPTypes
import Hummingbird
import NIOCore
import PageServing
import SequenceDiagrams

/// The HTTP responder of the inbox.
struct InboxResponder: Sendable {
    let agent: InboxAgent
    let mayDecide: Bool
    let sessions: Sessions
    let kinds: EnrollmentKinds
    /// The origin of the page, as in the printed link.
    let origin: PageOrigin
    /// The inbox's port, or `nil` on a Unix socket.
    let port: Int?
    /// Whether no other program has this port at the other address of `localhost`.
    let isLocalhostOurs: Bool
    let schemes: OpenSchemes
    /// The time limit for all calls of the agent that one page makes.
    var pageLimit: Duration = .seconds(InboxServer.pageSeconds)
    let sandbox = SandboxCalls()
    let streams = StreamCount()

    private var guarding: PageGuard { PageGuard([origin], loopbackScheme: "http", takesLocalhost: isLocalhostOurs) }

    /// Answers a request; a good request earns its client more time.
    func answer(to request: Request, from peer: PatientChannel.Peer) async -> (response: Response, isGood: Bool) {
        guard let asked = guarding.origin(of: request.head) else {
            return (PageAnswer.notice(.notOurName(origin)), false)
        }
        let cookie = SessionCookie(of: asked, port: port)
        // A link may be followed from anywhere, such as a terminal in another page: its token is the permission.
        if request.method == .get, request.uri.path == "/enter" { return entrance(request) }
        guard guarding.admits(request.head) else { return (PageAnswer.notice(.notThisPage), false) }
        if request.method == .post, request.uri.path == "/enter" { return await enter(request, at: asked, cookie) }
        // The browser sends the cookie only if the navigation comes from this page.
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
        let ids = cookie.values(in: request.headers)
        let isActivity = !PageGuard.isInBackground(request.head) && request.uri.path != "/events"
        guard let session = await session(ids, at: asked, isActivity: isActivity) else {
            return (PageAnswer.notice(.noSession(Self.hint(asked, origin), request.method == .post)), false)
        }
        if request.method == .post, request.uri.path == "/logout" {
            sessions.remove(ids)
            var response = PageAnswer.notice(.loggedOut)
            response.headers[.setCookie] = cookie.end
            return (response, true)
        }
        do throws(ClientError) {
            return (try await answer(to: request, from: peer, in: session), true)
        } catch {
            return (PageAnswer.failure(error), true)
        }
    }

    /// Returns the session of a browser's cookies, unless it has expired.
    private func session(
        _ ids: [String], at asked: PageOrigin, isActivity: Bool
    ) async -> Sessions.Session? {
        guard !ids.isEmpty else { return nil }
        // The agent is asked for the kinds of enrollments only if the answer matters.
        if let session = sessions.session(ids, at: asked, within: .payers, isActivity: isActivity) { return session }
        guard sessions.session(ids, at: asked, within: .tests, isActivity: false) != nil else { return nil }
        // The session may have ended during the call, so it is looked up again.
        let limits = await kinds.limits
        if let session = sessions.session(ids, at: asked, within: limits, isActivity: isActivity) { return session }
        sessions.remove(ids)
        return nil
    }

    /// Returns the page of a valid link; its button uses the link up.
    ///
    /// A GET does not use it up, because link previews in a chat and a browser's prefetch send GETs.
    private func entrance(_ request: Request) -> (Response, Bool) {
        guard let token = request.uri.queryParameters["token"].map(String.init), sessions.hasLink(token) else {
            return (PageAnswer.notice(.usedLink), false)
        }
        var response = PageAnswer.page(Pages.entrance(with: token))
        // The address has the token. With "no-referrer" the form would have the origin "null".
        response.headers[.referrerPolicy] = "origin"
        return (response, true)
    }

    /// Uses up the link, and redirects to the page at an address without the token.
    private func enter(
        _ request: Request, at asked: PageOrigin, _ cookie: SessionCookie
    ) async -> (Response, Bool) {
        guard let token = await Self.form(request)?["token"] else { return (PageAnswer.notice(.usedLink), false) }
        var session = sessions.enter(token, at: asked, within: .payers)
        if session == nil, sessions.hasLink(token) {
            session = sessions.enter(token, at: asked, within: await kinds.limits)
        }
        guard let session else { return (PageAnswer.notice(.usedLink), false) }
        var response = PageAnswer.redirect(to: "/")
        response.headers[.setCookie] = cookie.begin(session)
        return (response, true)
    }

    /// Returns a hint if the browser reaches the inbox at another address than the printed one: how its links begin.
    private static func hint(_ asked: PageOrigin, _ printed: PageOrigin) -> String {
        asked == printed ? "" : " In this browser it begins with \(asked.text) instead of \(printed.text)."
    }

    private func answer(
        to request: Request, from peer: PatientChannel.Peer, in session: Sessions.Session
    ) async throws(ClientError) -> Response {
        let path = request.uri.path.split(separator: "/").map(String.init)
        if request.method == .get, request.uri.path == "/events" {
            guard let place = streams.acquire() else { return PageAnswer.notice(.tooManyWindows) }
            peer.hasSentAll()
            peer.takesLong()
            return EventRelay(agent: agent, place: place) { [self] in
                await self.session([session.id], at: session.origin, isActivity: false) != nil
            }.response
        }
        if request.method == .post, path.count == 3, path[0] == "requests" {
            guard mayDecide else { return PageAnswer.notice(.onlyLooking) }
            guard let form = await Self.form(request), let token = form["form"],
                Sessions.areEqual(token, session.formToken)
            else { return PageAnswer.notice(.notOurForm) }
            // A decision has its own limit, and so has every page: from here on the browser has no time limit.
            peer.waitsForAnswer()
            return try await act(path[2], on: path[1], form, request, session)
        }
        guard request.method == .get else { return PageAnswer.notice(.noPage) }
        peer.waitsForAnswer()
        return try await inTime { () async throws(ClientError) -> Response in
            try await show(path, request, session)
        }
    }

    private func show(
        _ path: [String], _ request: Request, _ session: Sessions.Session
    ) async throws(ClientError) -> Response {
        guard path.first == "requests", path.count == 2 || path.count == 3 else {
            return path.isEmpty ? try await start(request, session) : PageAnswer.notice(.noPage)
        }
        switch path.count == 3 ? path[2] : "" {
        case "": return PageAnswer.page(try await page(showing: path[1], request, session))
        case "evidence.json": return try await evidence(of: path[1])
        case "sequence.svg":
            let story = RequestStory(try await agent.evidence(of: path[1]))
            return story.diagram.map { PageAnswer.drawing(Array($0.svg.utf8)) } ?? PageAnswer.notice(.noPage)
        case "purchase.svg":
            let drawing = await sandbox.diagram(of: try await agent.request(path[1]))
            return drawing.map(PageAnswer.drawing) ?? PageAnswer.notice(.noPage)
        default: return PageAnswer.notice(.noPage)
        }
    }

    /// Runs calls of the agent, and gives up after ``pageLimit``.
    func inTime(
        _ work: @escaping @Sendable () async throws(ClientError) -> Response
    ) async throws(ClientError) -> Response {
        do {
            return try await withThrowingTaskGroup(of: Response?.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await work() }
                group.addTask {
                    try await Task.sleep(for: pageLimit)
                    return nil
                }
                guard let response = try await group.next() ?? nil else {
                    throw ClientError.unclear("The agent did not answer within \(pageLimit.components.seconds) s.")
                }
                return response
            }
        } catch let error as ClientError {
            throw error
        } catch {
            throw .unclear("The inbox is being stopped.")
        }
    }

    /// Redirects to the newest request, or shows an empty list.
    ///
    /// The address is the request's own, so that a newer request does not replace it there.
    private func start(_ request: Request, _ session: Sessions.Session) async throws(ClientError) -> Response {
        let query = ListQuery(Self.query(of: request))
        let (rows, next) = try await agent.list(query)
        if let first = rows.first { return PageAnswer.redirect(to: "/requests/\(first.id)" + query.query()) }
        let clock = try await agent.client().clock()
        return PageAnswer.page(
            Pages.inbox(
                query, rows: rows, next: next, mayDecide: mayDecide, shown: nil, clock: clock.isTest ? clock : nil))
    }

    /// Returns the address of one of the inbox's own pages, never another one.
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

    /// Reads a form, or returns `nil` if the body is not a form, is too long, or does not come in time.
    private static func form(_ request: Request) async -> PageForm? {
        let body = try? await request.body.collect(upTo: PageForm.maxBytes)
        return body.flatMap { PageForm(Array($0.readableBytesView)) }
    }

    /// Builds the page with one request beside the list.
    ///
    /// - Parameter problem: the reason why an action failed.
    func page(
        showing id: String, _ request: Request, _ session: Sessions.Session, problem: String? = nil
    ) async throws(ClientError) -> String {
        let form = Self.query(of: request)
        let query = ListQuery(form)
        let (rows, next) = try await agent.list(query)
        let found = try await agent.request(id)
        let tab = form["tab"].flatMap { CardTab(rawValue: $0) } ?? .card
        var page = RequestPage(
            request: found, tab: tab, schemes: schemes, mayDecide: mayDecide, formToken: session.formToken,
            problem: problem)
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
}
