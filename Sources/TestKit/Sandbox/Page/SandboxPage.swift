import HTTPTypes
import Hummingbird
import IssuerProtocol
import Keys
import Logging
import PageServing
import SequenceDiagrams
import TextAndTime

/// The sandbox's page for a browser: makes purchases, and shows their outcome.
///
/// It uses only the sandbox's own calls, made inside the process, so that a script can do the same.
struct SandboxPage: Sendable {
    static let files = "/page"
    static let purchases = "/purchases"
    /// Seconds for which a browser may wait for a page to change.
    private static let waits: ClosedRange<Int64> = 0...60

    let backend: IssuerBackend
    let calls: PageCalls
    /// A token in each form, so that no other page can send one: 256 random bits for each process.
    let token: String

    init(backend: IssuerBackend, router: SandboxRouter) throws {
        self.backend = backend
        calls = PageCalls(router: router)
        token = Base64URL.encode(try backend.dependencies.random(32))
    }

    /// Whether a path belongs to the page, not to a call.
    static func hasPath(_ path: String) -> Bool {
        path == "/" || [files, purchases].contains { path == $0 || path.hasPrefix($0 + "/") }
    }

    /// Returns a refusal if a page of another origin makes a sandbox call, else `nil`.
    ///
    /// Browsers send the origin with such calls; other clients do not.
    func refusal(of request: Request) -> SandboxError? {
        guard request.uri.path.hasPrefix("/sandbox"), let origin = request.headers[.origin],
            !guarding.isOwn(request.head), !origins.contains(where: { $0.text == origin })
        else { return nil }
        return SandboxError(
            status: 403, code: nil, detail: "Origin: a page of another origin may not make this call; leave it out")
    }

    private var origins: Set<PageOrigin> { (try? backend.site.get().origins) ?? [] }

    /// The address at which the page can be opened.
    private var address: String { (try? backend.site.get().issuer.text) ?? "" }

    private var guarding: PageGuard {
        PageGuard(
            origins, loopbackScheme: origins.first { $0.host.hasPrefix("127.0.0.1") }?.scheme ?? "http")
    }

    /// Answers a request of a browser.
    func answer(to request: Request) async -> Response {
        let guarding = guarding
        guard guarding.admits(request.head) else {
            let isLed = guarding.origin(of: request.head) != nil && request.method == .get
            let isNamed = guarding.origin(of: request.head) != nil
            return PageAnswer.notice(
                "Not for this page",
                isLed
                    ? "A page of another origin has led here. Follow the link if you want to go on."
                    : "The page is open only under the sandbox's own addresses and those of the loopback, and takes only "
                        + "its own forms.", .forbidden, link: isNamed ? "/" : "\(address)/")
        }
        do {
            switch request.method {
            case .get: return try await shown(request)
            case .post: return await done(request)
            default:
                var response = PageAnswer.notice("Not allowed", "The page takes GET and POST.", .methodNotAllowed)
                response.headers[.allow] = "GET, POST"
                return response
            }
        } catch let refusal as SandboxError {
            let status = HTTPResponse.Status(code: refusal.status)
            return PageAnswer.notice(status == .notFound ? "Not found" : "Not done", refusal.detail, status)
        } catch is ChangeNotifier.TooManyWaitersError {
            return PageAnswer.notice("Busy", SandboxError.tooManyWaiters.detail, .serviceUnavailable)
        } catch {
            backend.logger.error("the page failed", metadata: ["error": "\(error)"])
            return PageAnswer.notice("Not done", "The sandbox failed; its log says why.", .internalServerError)
        }
    }

    private func shown(_ request: Request) async throws -> Response {
        switch request.uri.path {
        case "/": return try await live(request, about: .anything) { try await HomePage(of: self).page }
        case Self.purchases: return PageAnswer.redirect(to: "/")
        case Self.files + "/style.css": return PageAnswer.file(PageStyle.css, "text/css; charset=utf-8")
        case Self.files + "/sandbox.css":
            return PageAnswer.file(PackageResources.sandbox_css, "text/css; charset=utf-8")
        case Self.files + "/sandbox.js":
            return PageAnswer.file(PackageResources.sandbox_js, "text/javascript; charset=utf-8")
        default: break
        }
        let parts = request.uri.path.split(separator: "/").map(String.init)
        guard parts.first == "purchases", (2...3).contains(parts.count) else {
            throw SandboxError.notFound("There is no such page.")
        }
        let story = { @Sendable in try await calls.story(of: parts[1]) }
        switch parts.dropFirst(2).first {
        case nil:
            return try await live(request, about: .purchase(parts[1].lowercased())) {
                try PurchasePage(of: try await story(), token: token).page
            }
        case "sequence.svg": return PageAnswer.drawing(Array(try await PurchaseReport(story()).diagram().svg.utf8))
        case "sequence.txt":
            return PageAnswer.text(try await PurchaseReport(story()).diagram().list + "\n", "text/plain; charset=utf-8")
        default: throw SandboxError.notFound("There is no such page.")
        }
    }

    /// Returns the current page; with `?wait=SECONDS` and `If-None-Match`, as soon as it has changed.
    ///
    /// If the page is the same at the end of the wait, the answer is 304.
    private func live(
        _ request: Request, about topic: ChangeNotifier.Topic, _ page: @Sendable () async throws -> RenderedPage
    ) async throws -> Response {
        let known = request.headers[.ifNoneMatch]
        let wait = request.uri.queryParameters["wait"].flatMap { Int64($0) } ?? 0
        if known != nil, wait > 0, Self.waits.contains(wait) {
            let changed = try await backend.notifier.firstValue(about: [topic], within: wait) {
                let page = try await page()
                return page.tag == known ? nil : page
            }
            if let changed { return PageAnswer.page(changed) }
        }
        // An expiry does not ring the notifier, so the page is made once more.
        let page = try await page()
        return page.tag == known ? PageAnswer.unchanged(page) : PageAnswer.page(page)
    }
}
