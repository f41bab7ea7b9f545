import D1
import Foundation
import StrictJSON
import Testing

/// An app's own delegates, as they stand in an app.
@MainActor
@Suite(.timeLimit(.minutes(20)))
struct IssuerAppTests {
    /// Tells a test what the screen did, in order.
    @MainActor
    private final class Watch {
        private let notifier = AsyncStream.makeStream(of: String.self)

        func note(_ what: String) { notifier.continuation.yield(what) }

        func next() async -> String {
            for await what in notifier.stream { return what }
            return ""
        }
    }

    private func run(_ body: (TestApp, ConfirmationScreen, Watch) async throws -> Void) async throws {
        try await TestApp.run { app in
            let (screen, watch) = (ConfirmationScreen(), Watch())
            screen.onShow = { [unowned screen] in watch.note("shown: \(screen.title)") }
            try await app.configured { task in
                screen.authn = task.d1Authn(screen)
                try await screen.authn?.enrollAuthnCredentials(.platform)
                try await body(app, screen, watch)
            }
        }
    }

    private func purchase(_ app: TestApp) async throws -> String {
        try await app.issuer.purchase([
            "merchantName": "Bücherei", "purchaseAmount": "4200",
            "threeDSRequestorAppURL": "https://shop.example/back?o=1",
        ])
    }

    @Test func `who pays comes back to the merchant's app`() async throws {
        try await run { app, screen, watch in
            let purchase = try await purchase(app)
            screen.fetch { _ in watch.note("ended") }
            #expect(await watch.next() == "shown: Pay?")
            #expect(screen.message == "4200 to Bücherei")
            screen.pay()
            #expect(await watch.next() == "ended")
            #expect(try await app.issuer.status(purchase) == "authenticated")
            #expect(screen.opened.map(\.absoluteString) == ["https://shop.example/back?o=1"])
            #expect(app.entered.prompts.last == "Confirm with your PIN")
        }
    }

    @Test func `who refuses is shown that it was cancelled, and no merchant is launched`() async throws {
        try await run { app, screen, watch in
            let purchase = try await purchase(app)
            screen.fetch { _ in watch.note("ended") }
            #expect(await watch.next() == "shown: Pay?")
            screen.refuse()
            #expect(await watch.next() == "shown: Not paid")
            #expect(screen.message == "cancelled [10001] (cancelled) the payer denied it")
            #expect(screen.opened.isEmpty)
            #expect(try await app.issuer.status(purchase) == "notAuthenticated")
        }
    }

    @Test func `a duplicate that the screen cancels leaves the question on the screen`() async throws {
        try await run { app, screen, watch in
            let purchase = try await purchase(app)
            screen.fetch { _ in watch.note("first ended") }
            #expect(await watch.next() == "shown: Pay?")
            var duplicate: D1Error?
            do throws(D1Error) { try await screen.authn?.fetchAuthnRequest() } catch { duplicate = error }
            #expect(duplicate?.code == .cancelled)
            #expect(duplicate?.cause?.message == "a duplicate was cancelled")
            #expect(try await app.issuer.status(purchase) == "pending")
            screen.pay()
            #expect(await watch.next() == "first ended")
            #expect(try await app.issuer.status(purchase) == "authenticated")
            #expect(screen.opened.count == 1)
        }
    }

    @Test func `a delegate of few words decides by what it is given`() async throws {
        let screen = SmallScreen { $0["merchantName"] == "Bücherei" }
        try await TestApp.run { app in
            try await app.configured { task in
                let authn = try #require(task.d1Authn(screen))
                try await authn.enrollAuthnCredentials(nil)
                let wanted = try await purchase(app)
                try await authn.fetchAuthnRequest()
                let other = try await app.issuer.purchase(["merchantName": "Casino"])
                let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
                #expect(ended?.code == .cancelled)
                #expect(try await app.issuer.status(wanted) == "authenticated")
                #expect(try await app.issuer.status(other) == "notAuthenticated")
                #expect(screen.lastTransaction["merchantName"] == "Casino")
            }
        }
    }
}
