import D1
import Foundation
import StrictJSON
import Testing

@MainActor
@Suite(.timeLimit(.minutes(20)))
struct FetchTests {
    @Test func `the delegate gets the members as they came`() async throws {
        let payer = Payer.approving
        try await TestApp.enrolled(asking: payer) { app, authn in
            let purchase = try await app.issuer.purchase([
                "merchantName": "Caf\u{0301}e \u{202E}x", "purchaseAmount": "123456", "purchaseCurrency": "978",
                "purchaseDate": "20231017055638", "threeDSRequestorAppURL": "https://shop.example/r?x=%7B1%7D",
                "loyalty": "Gold, \"plus\"",
            ])
            try await authn.fetchAuthnRequest()
            #expect(
                payer.questions == [
                    [
                        "acsTransId": purchase, "merchantName": "Caf\u{0301}e \u{202E}x", "purchaseAmount": "123456",
                        "purchaseCurrency": "978", "purchaseExponent": "2", "purchaseDate": "20231017055638",
                        "threeDSRequestorAppURL": "https://shop.example/r?x=%7B1%7D", "loyalty": "Gold, \"plus\"",
                    ]
                ])
            // Swift compares strings by canonical equivalence; these are bytes.
            let name = try #require(payer.questions.first?["merchantName"])
            #expect(Array(name.utf8) == Array("Caf\u{0301}e \u{202E}x".utf8))
        }
    }

    @Test func `a fetch with nothing pending says so, and asks nobody`() async throws {
        let payer = Payer.approving
        try await TestApp.enrolled(asking: payer) { _, authn in
            let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(ended?.code == .authn)
            #expect(ended?.errorDescription == "authn [70001] (noRequest) no authn request is pending")
            #expect(payer.questions.isEmpty)
        }
    }

    @Test func `several requests are asked about one a fetch, oldest first`() async throws {
        let payer = Payer.approving
        try await TestApp.enrolled(asking: payer) { app, authn in
            var purchases: [String] = []
            for _ in 0..<3 { purchases.append(try await app.issuer.purchase()) }
            for _ in 0..<3 { try await authn.fetchAuthnRequest() }
            #expect(payer.questions.compactMap { $0["acsTransId"] } == purchases)
        }
    }

    @Test func `two fetches at once ask about two requests`() async throws {
        let payer = SlowPayer()
        try await TestApp.enrolled(asking: payer.delegate) { app, authn in
            let purchases = Set([try await app.issuer.purchase(), try await app.issuer.purchase()])
            async let first: Void = authn.fetchAuthnRequest()
            _ = try await payer.asked()
            async let second: Void = authn.fetchAuthnRequest()
            _ = try await payer.asked()
            for handlers in payer.handlers { handlers.proceed() }
            _ = try await (first, second)
            #expect(Set(payer.delegate.questions.compactMap { $0["acsTransId"] }) == purchases)
        }
    }

    @Test func `a fetch while the question is open asks again, and its cancel leaves the first question`() async throws
    {
        let payer = SlowPayer()
        try await TestApp.enrolled(asking: payer.delegate) { app, authn in
            let purchase = try await app.issuer.purchase()
            async let first: Void = authn.fetchAuthnRequest()
            let (proceed, _) = try await payer.asked()
            async let duplicate = error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            _ = try await payer.asked()
            payer.handlers[1].cancel()
            #expect(await duplicate?.code == .cancelled)
            #expect(try await app.issuer.status(purchase) == "pending")
            proceed()
            try await first
            #expect(try await app.issuer.status(purchase) == "authenticated")
        }
    }

    @Test func `without an enrollment a fetch is answered with 70002`() async throws {
        try await TestApp.run { app in
            try await app.configured { task in
                let payer = Payer.approving
                let authn = try #require(task.d1Authn(payer))
                let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
                #expect(ended?.code.rawValue == 70002)
            }
        }
    }

    @Test func `an enrollment that the issuer ended is none: 70002`() async throws {
        try await TestApp.enrolled(asking: Payer.approving) { app, authn in
            try await app.issuer.revokeAll()
            let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(ended?.code.rawValue == 70002)
            let again = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(again?.code.rawValue == 70002)
        }
    }

    @Test func `a wrong PIN is answered with 70003, and the request can be asked about again`() async throws {
        try await TestApp.enrolled(asking: Payer.approving) { app, authn in
            let purchase = try await app.issuer.purchase()
            app.entered.pin = "9999"
            let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(ended?.code.rawValue == 70003)
            #expect(ended?.cause?.name == "userNotVerified")
            #expect(try await app.issuer.status(purchase) == "pending")
            app.entered.pin = TestApp.pin
            try await authn.fetchAuthnRequest()
            #expect(try await app.issuer.status(purchase) == "authenticated")
        }
    }

    @Test func `five wrong PINs block: 70004, also for the right one, and a cancel still denies`() async throws {
        var isDenying = false
        let payer = Payer { proceed, cancel in isDenying ? cancel() : proceed() }
        try await TestApp.enrolled(asking: payer) { app, authn in
            let purchase = try await app.issuer.purchase()
            app.entered.pin = "9999"
            var codes: [Int?] = []
            for _ in 0..<5 {
                codes.append(
                    await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }?.code.rawValue)
            }
            #expect(codes == [70003, 70003, 70003, 70003, 70004])
            app.entered.pin = TestApp.pin
            let blocked = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(blocked?.code == .authnBlocked)
            isDenying = true
            _ = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(try await app.issuer.status(purchase) == "notAuthenticated")
        }
    }

    @Test func `a payer who goes away from the PIN has decided nothing`() async throws {
        try await TestApp.enrolled(asking: Payer.approving) { app, authn in
            let purchase = try await app.issuer.purchase()
            app.entered.pin = nil
            let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(ended?.code == .cancelled)
            #expect(try await app.issuer.status(purchase) == "pending")
        }
    }

    @Test func `an approval that does not reach the issuer in time is kept, said, and delivered later`() async throws {
        try await TestApp.enrolled(asking: Payer.approving, { $0.deliveryTimeout = .zero }) { app, authn in
            let purchase = try await app.issuer.purchase()
            try await app.issuer.plan(["next": [["path": "decision", "kind": "drop"]]])
            let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(ended?.cause?.name == "notDelivered")
            #expect(try await app.issuer.completion(purchase) == "authenticated")
        }
    }

    @Test func `an approval that the issuer does not take is an error`() async throws {
        let payer = SlowPayer()
        try await TestApp.enrolled(asking: payer.delegate) { app, authn in
            let purchase = try await app.issuer.purchase()
            async let ended = error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            let (proceed, _) = try await payer.asked()
            // The agent does not hear of it before it decides.
            try await app.issuer.cancel(purchase)
            proceed()
            #expect(
                await ended?.errorDescription
                    == "authn [70001] (notTaken) it was approved, but the issuer did not take it: cancelled")
        }
    }

    @Test func `an issuer that cannot be reached is an error of its own`() async throws {
        try await TestApp.enrolled(asking: Payer.approving) { app, authn in
            try await app.issuer.plan(["next": [["path": "fetch", "status": 503]]])
            let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(ended?.code == .authn)
            #expect(ended?.cause?.name == "issuerUnreachable")
        }
    }
}
