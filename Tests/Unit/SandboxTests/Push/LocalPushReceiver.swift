import HTTPTypes
import Hummingbird
import HummingbirdTesting
import IssuerProtocol
import Keys
import Sandbox
import StrictJSON
import Synchronization
import Testing

/// A push receiver on loopback that answers as it is told, and reads what came by the project's own rules.
final class LocalPushReceiver: Sendable {
    /// One answer; where nothing is said it is 201.
    struct Reply: Sendable {
        var status = 201
        var fields: HTTPFields = [:]
        /// Not before that is over.
        var gate: AsyncStream<Void>?
    }

    private struct Came: Sendable {
        let path: String
        let fields: PushFields
        let body: [UInt8]
    }

    private struct State {
        var replies: [Reply] = []
        var came: [Came] = []
        var port = 0
    }

    let key: PushReceiverKey
    /// Rings with each push that comes.
    let arrivals: AsyncStream<Void>
    private let arrived: AsyncStream<Void>.Continuation
    private let state: Mutex<State>

    private init(_ replies: [Reply]) throws {
        key = try PushReceiverKey.generate()
        state = Mutex(State(replies: replies))
        (arrivals, arrived) = AsyncStream.makeStream()
    }

    /// Listens while `body` runs; the answers are given in their order.
    static func run(
        _ replies: [Reply] = [], _ body: @Sendable (LocalPushReceiver) async throws -> Void
    ) async throws {
        let receiver = try LocalPushReceiver(replies)
        let application = Application(
            responder: CallbackResponder { (request: Request, _: BasicRequestContext) in
                try await receiver.answer(request)
            })
        try await application.test(.live) { client in
            receiver.state.withLock { $0.port = client.port ?? 0 }
            try await body(receiver)
        }
    }

    static func run(statuses: [Int], _ body: @Sendable (LocalPushReceiver) async throws -> Void) async throws {
        try await run(statuses.map { Reply(status: $0) }, body)
    }

    private func answer(_ request: Request) async throws -> Response {
        let body = Array(try await request.body.collect(upTo: 65_536).readableBytesView)
        let fields = request.headers.map { (name: $0.name.rawName, value: $0.value) }
        let reply = state.withLock { state in
            state.came.append(Came(path: request.uri.path, fields: PushFields(fields), body: body))
            return state.replies.isEmpty ? Reply() : state.replies.removeFirst()
        }
        arrived.yield()
        if let gate = reply.gate { for await _ in gate {} }
        return Response(status: .init(code: reply.status), headers: reply.fields)
    }

    var path: String { "/push/c2VjcmV0" }
    var endpoint: PushEndpoint {
        get throws { try PushEndpoint("http://localhost:\(state.withLock { $0.port })\(path)") }
    }

    var subscription: JSONObject {
        get throws { PushSubscription(endpoint: try endpoint, recipient: key.recipient).json }
    }

    var count: Int { state.withLock { $0.came.count } }

    /// What came, each at the subscription's path and in order by the rules for a push of that issuer.
    func messages(from issuer: TestIssuer) async throws -> [PushMessage] {
        let reply = await issuer.call("GET", Discovery.path)
        let discovery = try Discovery(json: reply.bytes, expected: issuer.site.issuer)
        let vapid = try VAPIDKey(point: try #require(discovery.vapidPublicKey))
        let inbox = PushInbox(endpoint: try endpoint, key: key, vapid: .required(vapid))
        return try state.withLock(\.came).map { came in
            #expect(came.path == path)
            return try inbox.read(came.fields, body: came.body, now: issuer.now)
        }
    }

    func bodies(from issuer: TestIssuer) async throws -> [PushBody] {
        try await messages(from: issuer).map(\.body)
    }
}

extension PushLimits {
    /// A receiver has time until the test cancels the sender, however slow the machine is.
    static let patient = until { try await Task.sleep(for: .seconds(86_400)) }

    /// A receiver has time until `end` returns.
    static func until(_ end: @escaping @Sendable () async throws -> Void) -> PushLimits {
        PushLimits(connectSeconds: 86_400, answer: end)
    }
}

extension TestIssuer {
    /// An authenticator that is enrolled and has subscribed there.
    func subscribed(at receiver: LocalPushReceiver) async throws -> SoftwareAuthenticator {
        let authenticator = try await enrolled()
        let reply = await subscribe(authenticator, try receiver.subscription)
        try #require(reply.status == 204, "\(reply)")
        return authenticator
    }

    func subscribe(_ authenticator: SoftwareAuthenticator, _ subscription: JSONObject) async -> Reply {
        await call(
            "PUT", "/v1/authenticator/push-subscription", token: authenticator.token, body: subscription.serialized())
    }

    /// Sends what is due now.
    func push(_ limits: PushLimits = .patient) async throws {
        try await PushSender(backend: backend, limits: limits).sendDue()
    }

    /// Where an authenticator's pushes go, as the sandbox shows it.
    func endpoint(of authenticator: SoftwareAuthenticator) async throws -> String? {
        let reply = await call("GET", "/sandbox/authenticators/\(authenticator.id)")
        return try reply.object.optionalObject("push")?.string("endpoint")
    }
}

extension RequestView {
    /// What became of its pushes.
    var pushes: [JSONObject] {
        get throws {
            try (json.optionalArray("pushes") ?? []).map { value in
                guard case .object(let push) = value else { throw NotAnObject() }
                return push
            }
        }
    }

    /// `state tries`, with the last status or what stood in the way: `failed 1 404`.
    var pushOutcomes: [String] {
        get throws {
            try pushes.map { push in
                let status = try push.optionalInteger("status").map { " \($0)" } ?? ""
                let problem = try push.optionalString("problem").map { " \($0)" } ?? ""
                return try "\(push.string("state")) \(push.integer("tries"))\(status)\(problem)"
            }
        }
    }
}
