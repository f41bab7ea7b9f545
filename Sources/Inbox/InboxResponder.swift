import Control
import HTTPTypes
import Hummingbird
import NIOCore
import PageServing
import StrictJSON

/// Answers a browser.
struct InboxResponder: Sendable {
    let agent: InboxAgent
    let mayDecide: Bool
    let sessions: Sessions
    let guarding: PageGuard
    /// Told when a link was used, so that the next one is shown.
    let onLinkUsed: @Sendable () -> Void

    func answer(to request: Request) async -> Response {
        guard guarding.admits(request.head) else {
            return Self.page(
                Pages.notice("Not for this page", "This address or origin is not the inbox's."), .forbidden)
        }
        switch (request.method, request.uri.path) {
        case (.get, "/style.css"): return Self.file(PageStyle.css, "text/css; charset=utf-8")
        case (.get, "/script.js"): return Self.file(PackageResources.inbox_js, "text/javascript; charset=utf-8")
        case (.get, "/enter"): return enter(request)
        default: break
        }
        guard let session = Self.cookies(of: request)[sessions.cookie].flatMap(sessions.session) else {
            return Self.page(
                Pages.notice(
                    "A link opens this page",
                    "A link works once. The next one stands where oob-inbox runs: follow it in this browser."),
                .forbidden)
        }
        do throws(ClientError) {
            return try await answer(to: request, in: session)
        } catch {
            return failure(error, of: request)
        }
    }

    /// Uses the link up, and leads to the page under an address without it.
    private func enter(_ request: Request) -> Response {
        guard let token = request.uri.queryParameters["token"], let session = sessions.enter(String(token)) else {
            return Self.page(
                Pages.notice(
                    "This link was used",
                    "A link works once. The next one stands where oob-inbox runs: follow it in this browser."),
                .forbidden)
        }
        onLinkUsed()
        var response = Self.redirect(to: "/")
        response.headers[.referrerPolicy] = "no-referrer"
        response.headers[.setCookie] = "\(sessions.cookie)=\(session.id); Path=/; HttpOnly; SameSite=Strict"
        return response
    }

    private func answer(to request: Request, in session: Sessions.Session) async throws(ClientError) -> Response {
        let path = request.uri.path.split(separator: "/").map(String.init)
        switch (request.method, path.first, path.count) {
        case (.get, nil, 0): return try await start(request, session)
        case (.get, "requests", 2): return Self.page(try await page(showing: path[1], request, session))
        case (.get, "requests", 3) where path[2] == "evidence.json": return try await evidence(of: path[1])
        case (.post, "requests", 3) where path[2] == "decide":
            return try await decide(path[1], request, session)
        case (.get, "events", 1): return EventRelay(agent: agent).response
        default: return Self.page(Pages.notice("Not found", "There is no such page."), .notFound)
        }
    }

    /// The list; if there is a request, under that request's own address, so that no other one takes its place there.
    private func start(_ request: Request, _ session: Sessions.Session) async throws(ClientError) -> Response {
        let filter = ListFilter(Self.query(of: request))
        let found = try await agent.requests(all: filter.all).filter(filter.takes)
        let first = found.dropFirst((filter.page - 1) * ListFilter.rows).first
        guard let first else { return Self.page(try await page(showing: nil, request, session)) }
        return Self.redirect(to: "/requests/\(first.id)" + filter.query())
    }

    private static func query(of request: Request) -> PageForm {
        PageForm(Array((request.uri.query ?? "").utf8)) ?? PageForm()
    }

    private func page(
        showing id: String?, _ request: Request, _ session: Sessions.Session, problem: String? = nil
    ) async throws(ClientError) -> String {
        let query = Self.query(of: request)
        let filter = ListFilter(query)
        let requests = try await agent.requests(all: filter.all)
        var shown: RequestView?
        if let id { shown = try await agent.request(id) }
        let tab = query["tab"].flatMap { CardTab(rawValue: $0) } ?? .card
        var evidence: EvidenceView?
        if let shown, tab != .card { evidence = try await agent.evidence(of: shown.id) }
        var needsPIN = false
        if let shown, shown.state == .pending, mayDecide {
            needsPIN = try await agent.enrollments().first { $0.id == shown.enrollmentId }?.authnType == "pin"
        }
        return Pages.inbox(
            InboxView(
                requests: requests, filter: filter, shown: shown, tab: tab, evidence: evidence, needsPIN: needsPIN,
                mayDecide: mayDecide, formToken: session.formToken, problem: problem))
    }

    private func evidence(of id: String) async throws(ClientError) -> Response {
        let evidence = try await agent.evidence(of: id)
        let json: [UInt8]
        do throws(ControlError) { json = try ControlJSON.encode(evidence) } catch { throw .refused(error) }
        var response = Self.text(String(decoding: json, as: UTF8.self), "application/json")
        response.headers[HTTPField.Name.contentDispositionField] =
            "attachment; filename=\"evidence-\(evidence.request.id).json\""
        return response
    }

    // MARK: Decisions

    /// Decides what the page showed: bound to the digest of its text, and carrying the session's form token.
    private func decide(
        _ id: String, _ request: Request, _ session: Sessions.Session
    ) async throws(ClientError) -> Response {
        let body = try? await request.body.collect(upTo: PageForm.maxBytes)
        guard let form = body.flatMap({ PageForm(Array($0.readableBytesView)) }),
            let token = form["form"], Sessions.areEqual(token, session.formToken)
        else {
            return Self.page(
                Pages.notice("Nothing was decided", "The form was not this page's. Go back and reload it."), .forbidden)
        }
        guard mayDecide else {
            return Self.page(
                Pages.notice("Nothing was decided", "This inbox only shows: it was started with --look."), .forbidden)
        }
        guard let digest = form["digest"], let decision = Self.decision(form["decision"]) else {
            return Self.page(Pages.notice("Nothing was decided", "The form has no decision."), .badRequest)
        }
        var command = DecideCommand()
        command.shownTextDigest = digest
        command.expectShownText = true
        command.deliveryTimeout = 5
        if decision == .deny { command.reason = form["decision"] == "fraud" ? .suspectedFraud : .userDenied }
        do throws(ClientError) {
            if decision == .approve, let pin = form["pin"], !pin.isEmpty {
                command.pin = PINText(pin)
            }
            let decided = try await agent.decide(decision, id, with: command)
            return Self.redirect(to: "/requests/\(decided.id)")
        } catch {
            // The page again, with what is wrong; a PIN that was typed is not on it.
            let status: HTTPResponse.Status = if case .refused = error { .conflict } else { .badGateway }
            return Self.page(
                try await page(showing: id, request, session, problem: Self.problem(error)), status)
        }
    }

    /// Says that nothing was decided only if that is known.
    private static func problem(_ error: ClientError) -> String {
        switch error {
        case .refused, .unreachable: "Nothing was decided. \(error)"
        case .unclear, .unknown: "\(error)"
        }
    }

    private static func decision(_ text: String?) -> Decision? {
        switch text {
        case "approve": .approve
        case "deny", "fraud": .deny
        default: nil
        }
    }

    private func failure(_ error: ClientError, of request: Request) -> Response {
        if case .refused(let refusal) = error, [.notFound, .noRequest].contains(refusal.token) {
            return Self.page(Pages.notice("Not found", "The agent has no such request."), .notFound)
        }
        return Self.page(
            Pages.notice("The agent does not answer", "\(error) This page comes back by itself.", isWaiting: true),
            .badGateway)
    }

    // MARK: Answers

    private static func cookies(of request: Request) -> [String: String] {
        var cookies: [String: String] = [:]
        for pair in (request.headers[.cookie] ?? "").split(separator: ";").prefix(32) {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            cookies[String(parts[0].drop { $0 == " " })] = String(parts[1])
        }
        return cookies
    }

    private static func redirect(to path: String) -> Response {
        var fields = PageGuard.fields
        fields[.location] = path
        return Response(status: .seeOther, headers: fields)
    }

    private static func page(_ html: String, _ status: HTTPResponse.Status = .ok) -> Response {
        text(html, "text/html; charset=utf-8", status)
    }

    private static func file(_ bytes: [UInt8], _ type: String) -> Response {
        var fields = PageGuard.fields
        fields[.contentType] = type
        return Response(status: .ok, headers: fields, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private static func text(_ text: String, _ type: String, _ status: HTTPResponse.Status = .ok) -> Response {
        var fields = PageGuard.fields
        fields[.contentType] = type
        return Response(status: status, headers: fields, body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}
