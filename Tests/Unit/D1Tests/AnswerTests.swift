import D1
import Foundation
import StrictJSON
import Testing

/// Proceed and cancel count once, whatever the delegate does.
@MainActor
@Suite(.timeLimit(.minutes(20)))
struct AnswerTests {
    @Test func `proceed approves, and the fetch ends well once the issuer has taken it`() async throws {
        let payer = Payer.approving
        try await TestApp.enrolled(asking: payer) { app, authn in
            let purchase = try await app.issuer.purchase(["merchantName": "Bücher & Co"])
            try await authn.fetchAuthnRequest()
            #expect(try await app.issuer.status(purchase) == "authenticated")
            #expect(payer.questions.map { $0["acsTransId"] } == [purchase])
        }
    }

    @Test func `cancel denies, and the fetch ends as cancelled`() async throws {
        try await TestApp.enrolled(asking: Payer.cancelling) { app, authn in
            let purchase = try await app.issuer.purchase()
            let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(ended?.code == .cancelled)
            #expect(try await app.issuer.status(purchase) == "notAuthenticated")
            #expect(app.entered.prompts == ["Confirm the payment"], "a PIN was asked for once, to enroll")
        }
    }

    @Test func `a fetch after a cancel finds nothing`() async throws {
        try await TestApp.enrolled(asking: Payer.cancelling) { app, authn in
            try await app.issuer.purchase()
            _ = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(ended?.cause?.name == "noRequest")
        }
    }

    @Test(arguments: [true, false])
    func `of proceed and cancel the first counts`(isProceedFirst: Bool) async throws {
        let payer = Payer { proceed, cancel in
            for handler in isProceedFirst ? [proceed, cancel] : [cancel, proceed] { handler() }
        }
        try await TestApp.enrolled(asking: payer) { app, authn in
            let purchase = try await app.issuer.purchase()
            let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(ended?.code == (isProceedFirst ? nil : .cancelled))
            #expect(try await app.issuer.status(purchase) == (isProceedFirst ? "authenticated" : "notAuthenticated"))
        }
    }

    @Test func `a handler that is called twice, and again later, counts once`() async throws {
        let payer = SlowPayer()
        try await TestApp.enrolled(asking: payer.delegate) { app, authn in
            let purchase = try await app.issuer.purchase()
            async let fetch: Void = authn.fetchAuthnRequest()
            let (proceed, cancel) = try await payer.asked()
            proceed()
            proceed()
            try await fetch
            proceed()
            cancel()
            // What came late is about no other request either.
            let next = try await app.issuer.purchase()
            async let second: Void = authn.fetchAuthnRequest()
            _ = try await payer.asked()
            proceed()
            cancel()
            #expect(try await app.issuer.status(next) == "pending")
            payer.handlers[1].proceed()
            try await second
            #expect(try await app.issuer.status(purchase) == "authenticated")
            #expect(try await app.issuer.status(next) == "authenticated")
        }
    }

    @Test func `handlers may be called from other threads, many at once, and one counts`() async throws {
        let payer = Payer { proceed, cancel in
            DispatchQueue.global().async {
                DispatchQueue.concurrentPerform(iterations: 64) { number in number % 2 == 0 ? proceed() : cancel() }
            }
        }
        try await TestApp.enrolled(asking: payer) { app, authn in
            for _ in 0..<4 {
                let purchase = try await app.issuer.purchase()
                let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
                #expect(ended == nil || ended?.code == .cancelled, "\(String(describing: ended))")
                #expect(
                    try await app.issuer.status(purchase) == (ended == nil ? "authenticated" : "notAuthenticated"))
            }
        }
    }

    @Test func `a question that is open at the request's expiry ends, nothing is decided, and handlers do nothing`()
        async throws
    {
        let payer = SlowPayer()
        try await TestApp.enrolled(asking: payer.delegate) { app, authn in
            // On a machine that is busy a request can expire before anybody is asked.
            for seconds: JSONValue in [2, 10, 50] {
                let purchase = try await app.issuer.purchase(["expiresIn": seconds])
                let fetch = Task {
                    defer { payer.wake() }
                    return await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
                }
                guard let (proceed, cancel) = await payer.askedOrWoken() else { continue }
                #expect(await fetch.value?.cause?.name == "noLongerDecidable")
                proceed()
                cancel()
                let again = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
                #expect(again?.cause?.name == "noRequest")
                #expect(try await app.issuer.status(purchase) != "authenticated")
                return
            }
            Issue.record("nobody was ever asked")
        }
    }

    @Test func `a request that its issuer takes back while the question is open is not decided`() async throws {
        let payer = SlowPayer()
        try await TestApp.enrolled(asking: payer.delegate) { app, authn in
            let purchase = try await app.issuer.purchase()
            async let ended = error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            _ = try await payer.asked()
            try await app.issuer.cancel(purchase)
            // The next fetch brings what took it back.
            let second = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(second?.cause?.name == "noRequest")
            #expect(await ended?.cause?.name == "noLongerDecidable")
        }
    }

    @Test func `handlers that are let go without a call end the fetch, and the request can be asked about again`()
        async throws
    {
        var isForgetful = true
        let payer = Payer { proceed, _ in
            if !isForgetful { proceed() }
        }
        try await TestApp.enrolled(asking: payer) { app, authn in
            let purchase = try await app.issuer.purchase()
            let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(ended?.cause?.name == "unanswered")
            #expect(try await app.issuer.status(purchase) == "pending")
            isForgetful = false
            try await authn.fetchAuthnRequest()
            #expect(try await app.issuer.status(purchase) == "authenticated")
        }
    }

    @Test func `without its delegate a fetch decides nothing`() async throws {
        try await TestApp.run { app in
            try await app.configured { task in
                var payer: Payer? = Payer.approving
                let authn = try #require(payer.flatMap { task.d1Authn($0) })
                try await authn.enrollAuthnCredentials(.platform)
                let purchase = try await app.issuer.purchase()
                payer = nil
                let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
                #expect(ended?.cause?.name == "delegateGone")
                #expect(try await app.issuer.status(purchase) == "pending")
            }
        }
    }

    @Test func `a cancelled task decides nothing`() async throws {
        let payer = SlowPayer()
        try await TestApp.enrolled(asking: payer.delegate) { app, authn in
            let purchase = try await app.issuer.purchase()
            let fetch = Task { await error { () throws(D1Error) in try await authn.fetchAuthnRequest() } }
            let (proceed, _) = try await payer.asked()
            fetch.cancel()
            #expect(await fetch.value?.code == .cancelled)
            proceed()
            #expect(try await app.issuer.status(purchase) == "pending")
        }
    }
}
