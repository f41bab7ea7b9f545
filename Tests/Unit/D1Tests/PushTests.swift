import D1
import Foundation
import Hummingbird
import Logging
import StrictJSON
import Testing

@MainActor
@Suite(.timeLimit(.minutes(20)))
struct PushTests {
    /// Receives what is posted, as whatever stands in for a push service does.
    private static func receiving(_ body: (_ url: String, _ posts: AsyncStream<Post>) async throws -> Void) async throws
    {
        let (posts, arrived) = AsyncStream<Post>.makeStream()
        let (ports, running) = AsyncStream<Int>.makeStream()
        let router = Router()
        router.post("**") { request, _ in
            let bytes = try await request.body.collect(upTo: 65_536)
            let headers = request.headers.map { ($0.name.rawName, $0.value) }
            arrived.yield(
                Post(
                    path: request.uri.path, headers: Dictionary(headers) { first, _ in first },
                    body: Data(bytes.readableBytesView)))
            return Response(status: .created)
        }
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in running.yield(channel.localAddress?.port ?? 0) },
            logger: Logger(label: "receiver") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            defer { group.cancelAll() }
            for await port in ports { return try await body("http://localhost:\(port)", posts) }
        }
    }

    private struct Post: Sendable {
        let path: String
        let headers: [String: String]
        let body: Data

        var notification: [String: Any] { ["path": path, "headers": headers, "body": body] }
    }

    /// A task that is enrolled and pushed to.
    private func pushedTo(
        asking payer: Payer, _ body: (TestApp, D1Task, D1Authn, AsyncStream<Post>) async throws -> Void
    ) async throws {
        try await Self.receiving { url, posts in
            try await TestApp.run { app in
                try await app.configured { task in
                    let authn = try #require(task.d1Authn(payer))
                    try await authn.enrollAuthnCredentials(.platform)
                    try await task.updatePushToken(url)
                    try await body(app, task, authn, posts)
                }
            }
        }
    }

    private func next(_ posts: AsyncStream<Post>) async throws -> Post {
        for await post in posts { return post }
        throw CancellationError()
    }

    @Test func `a request that is only pushed is found by the next fetch`() async throws {
        let payer = Payer.approving
        try await pushedTo(asking: payer) { app, task, authn, posts in
            let purchase = try await app.issuer.purchase(["push": "only"])
            let post = try await next(posts)
            let before = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(before?.cause?.name == "noRequest")
            let answer = try await task.processNotification(post.notification)
            #expect(answer == [.messageType: PushResponse.typeAuthn])
            try await authn.fetchAuthnRequest()
            #expect(try await app.issuer.status(purchase) == "authenticated")
        }
    }

    @Test func `a push that came twice is asked about once`() async throws {
        let payer = Payer.approving
        try await pushedTo(asking: payer) { app, task, authn, posts in
            try await app.issuer.purchase(["push": "only"])
            let post = try await next(posts)
            for _ in 0..<2 { _ = try await task.processNotification(post.notification) }
            try await authn.fetchAuthnRequest()
            _ = try await task.processNotification(post.notification)
            let again = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(again?.cause?.name == "noRequest")
            #expect(payer.questions.count == 1)
        }
    }

    @Test func `a hint is about an authn request too`() async throws {
        try await pushedTo(asking: Payer.approving) { app, task, authn, posts in
            let purchase = try await app.issuer.purchase(["push": "hint"])
            let answer = try await task.processNotification(try await next(posts).notification)
            #expect(answer[.messageType] == PushResponse.typeAuthn)
            try await authn.fetchAuthnRequest()
            #expect(try await app.issuer.status(purchase) == "authenticated")
        }
    }

    @Test func `a push whose bytes were changed is an error, and nothing is taken in`() async throws {
        try await pushedTo(asking: Payer.approving) { app, task, authn, posts in
            try await app.issuer.purchase(["push": "only"])
            let post = try await next(posts)
            var body = post.body
            body[body.count - 1] ^= 1
            let changed = Post(path: post.path, headers: post.headers, body: body)
            await #expect(throws: D1Error.self) { try await task.processNotification(changed.notification) }
            let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(ended?.cause?.name == "noRequest")
        }
    }

    @Test func `the issuer's message alone is taken as well, and asked about though the issuer cannot be reached`()
        async throws
    {
        try await TestApp.run { app in
            try await app.configured { task in
                let payer = Payer.approving
                let authn = try #require(task.d1Authn(payer))
                try await authn.enrollAuthnCredentials(.platform)
                let purchase = try await app.issuer.purchase()
                try await app.issuer.plan(["next": [["path": "fetch", "status": 503]]])
                let notification: [String: Any] = ["message": try await app.issuer.message(purchase), "aps": 1]
                let answer = try await task.processNotification(notification)
                #expect(answer[.messageType] == PushResponse.typeAuthn)
                try await authn.fetchAuthnRequest()
                #expect(try await app.issuer.status(purchase) == "authenticated")
            }
        }
    }

    @Test func `what is not the issuer's is unknown, and no error`() async throws {
        let strangers: [[String: Any]] = [
            [:], ["message": 7], ["message": "hello"], ["path": "/push/x"],
            ["path": "/push/" + String(repeating: "A", count: 43), "headers": [String: String](), "body": Data()],
        ]
        try await TestApp.run { app in
            try await app.configured { task in
                let payer = Payer.approving
                try await task.d1Authn(payer)?.enrollAuthnCredentials(.platform)
                for stranger in strangers {
                    let answer = try await task.processNotification(stranger)
                    #expect(answer == [.messageType: PushResponse.typeUnknown])
                }
            }
        }
    }

    @Test func `a new address takes the old one's place, and the same one again changes nothing`() async throws {
        try await pushedTo(asking: Payer.approving) { app, task, authn, first in
            try await Self.receiving { url, second in
                try await task.updatePushToken(url)
                try await task.updatePushToken(url)
                try await app.issuer.purchase(["push": "only"])
                let post = try await next(second)
                _ = try await task.processNotification(post.notification)
                try await authn.fetchAuthnRequest()
            }
        }
    }

    @Test(arguments: ["", "ftp://push.example", "http://push.example", "https://push.example/?a=1", "not a URL"])
    func `a token that is no URL of a push receiver is an invalid argument`(token: String) async throws {
        try await TestApp.run { app in
            try await app.configured { task in
                let ended = await error { () throws(D1Error) in try await task.updatePushToken(token) }
                #expect(ended?.code.rawValue == 60002)
            }
        }
    }

    @Test func `a notification for nobody who is enrolled is answered with 70002`() async throws {
        try await TestApp.run { app in
            try await app.configured { task in
                await #expect { try await task.processNotification(["message": "a.b.c"]) } throws: { error in
                    (error as? D1Error)?.code == .authnNotEnrolled
                }
                let answer = try await task.processNotification(["aps": "x"])
                #expect(answer[.messageType] == PushResponse.typeUnknown)
            }
        }
    }
}
