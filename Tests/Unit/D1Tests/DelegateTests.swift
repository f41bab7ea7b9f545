import D1
import Foundation
import StrictJSON
import Testing
import UIKitStub

/// The delegates of the document's page about delegates, as an app has them.
@MainActor
@Suite(.timeLimit(.minutes(20)))
struct DelegateTests {
    /// A screen whose alerts and ended fetches a test can wait for.
    private final class WatchedController: PaymentViewController {
        private let alerts = AsyncStream.makeStream(of: UIAlertController.self)
        private let ends = AsyncStream.makeStream(of: D1Error?.self)

        override func present(
            _ viewControllerToPresent: UIViewController, animated: Bool, completion: (@MainActor () -> Void)? = nil
        ) {
            super.present(viewControllerToPresent, animated: animated, completion: completion)
            if let alert = viewControllerToPresent as? UIAlertController { alerts.continuation.yield(alert) }
        }

        /// Fetches twice, as for a push and a start of the app that meet, and taps a button of the alert.
        func fetch(with task: D1Task, tapping button: String) async throws -> (UIAlertController, D1Error?) {
            onEnd = { [ends] in ends.continuation.yield($0) }
            confirmPayment(with: task)
            confirmPayment(with: task)
            let alert = try #require(await DelegateTests.next(of: alerts.stream))
            #expect(presentedViewController === alert)
            #expect(alert.tap(button))
            #expect(presentedViewController == nil)
            return (alert, try #require(await DelegateTests.next(of: ends.stream)))
        }
    }

    private static func next<Element: Sendable>(of stream: AsyncStream<Element>) async -> Element? {
        for await element in stream { return element }
        return nil
    }

    /// Runs `body` with an app that has enrolled, and its screen.
    private func run(_ body: (TestApp, D1Task, WatchedController) async throws -> Void) async throws {
        try await TestApp.run { app in
            let screen = WatchedController()
            try await app.configured { task in
                try await #require(task.d1Authn(screen)).enrollAuthnCredentials(.platform)
                try await body(app, task, screen)
            }
        }
    }

    @Test func `a tap on the alert pays and opens the merchant's app, with the prompt that is there by default`()
        async throws
    {
        try await run { app, task, screen in
            let address = "https://shop.example/back?o=\(UUID().uuidString)"
            let purchase = try await app.issuer.purchase([
                "merchantName": "Bücherei", "purchaseAmount": "4200", "threeDSRequestorAppURL": .string(address),
            ])
            let (alert, error) = try await screen.fetch(with: task, tapping: "Pay")
            #expect(error == nil)
            #expect(alert.title == "Bücherei")
            #expect(alert.message == "4200 minor units of currency 840")
            #expect(try await app.issuer.status(purchase) == "authenticated")
            #expect(UIApplication.shared.opened.count { $0.absoluteString == address } == 1)
            #expect(app.entered.prompts.last == "Your PIN")
        }
    }

    @Test func `the alert's other button cancels, opens nothing, and the next payment is asked about`() async throws {
        try await run { app, task, screen in
            let address = "https://shop.example/back?o=\(UUID().uuidString)"
            let refused = try await app.issuer.purchase(["threeDSRequestorAppURL": .string(address)])
            #expect(try await screen.fetch(with: task, tapping: "Cancel").1?.code == .cancelled)
            #expect(try await app.issuer.status(refused) == "notAuthenticated")
            #expect(!UIApplication.shared.opened.contains { $0.absoluteString == address })
            let paid = try await app.issuer.purchase()
            #expect(try await screen.fetch(with: task, tapping: "Pay").1 == nil)
            #expect(try await app.issuer.status(paid) == "authenticated")
        }
    }

    @Test func `a delegate that is an object of its own pays and cancels`() async throws {
        try await TestApp.run { app in
            let shown = AsyncStream.makeStream(of: [String: String].self)
            let delegate = PaymentDelegate { shown.continuation.yield($0) }
            try await app.configured { task in
                let authn = try #require(task.d1Authn(delegate))
                try await authn.enrollAuthnCredentials(.platform)
                for (approves, outcome) in [(true, "authenticated"), (false, "notAuthenticated")] {
                    let purchase = try await app.issuer.purchase(["merchantName": "Bücherei"])
                    let ended = AsyncStream.makeStream(of: D1Error?.self)
                    authn.fetchAuthnRequest { ended.continuation.yield($0) }
                    #expect(await Self.next(of: shown.stream)?["merchantName"] == "Bücherei")
                    delegate.answer(approves: approves)
                    let error = try #require(await Self.next(of: ended.stream))
                    #expect(error?.code == (approves ? nil : .cancelled))
                    #expect(try await app.issuer.status(purchase) == outcome)
                    #expect(app.entered.prompts.last == "Pay with your PIN")
                }
            }
        }
    }

    @Test func `a screen presents one controller at a time, and an alert that is not presented has no buttons to tap`()
    {
        let (screen, first, second) = (
            UIViewController(), UIViewController(), UIAlertController(title: "A", message: nil, preferredStyle: .alert)
        )
        var taps = 0
        second.addAction(UIAlertAction(title: "OK", style: .default) { _ in taps += 1 })
        screen.present(first, animated: true)
        screen.present(second, animated: true)
        #expect(screen.presentedViewController === first)
        #expect(!second.tap("OK"))
        first.dismiss(animated: true)
        screen.present(second, animated: true)
        #expect(!second.tap("Other"))
        #expect(second.tap("OK"))
        #expect(taps == 1)
        #expect(screen.presentedViewController == nil)
    }

    @Test func `an app keeps the last hundred URLs that it was to open`() throws {
        let app = UIApplication()
        for number in 1...101 { app.open(try #require(URL(string: "myapp:\(number)"))) }
        #expect(app.opened.count == 100)
        #expect(app.opened.first?.absoluteString == "myapp:2")
    }
}
