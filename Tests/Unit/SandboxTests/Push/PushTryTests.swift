import HTTPTypes
import IssuerProtocol
import Sandbox
import StrictJSON
import Testing

/// What the sandbox makes of a receiver's answers.
@Suite(.timeLimit(.minutes(20)))
struct PushTryTests {
    @Test(arguments: [200, 201, 202, 204])
    func `a push that was taken is not sent again`(status: Int) async throws {
        try await LocalPushReceiver.run(statuses: [status]) { receiver in
            let issuer = try TestIssuer()
            _ = try await issuer.subscribed(at: receiver)
            let purchase = try await issuer.purchase()
            for _ in 0..<2 { try await issuer.push() }
            #expect(receiver.count == 1)
            #expect(try await issuer.timeline(purchase).request.pushOutcomes == ["delivered 1 \(status)"])
        }
    }

    @Test(arguments: [404, 410])
    func `a receiver that knows it no more ends the subscription`(status: Int) async throws {
        try await LocalPushReceiver.run(statuses: [status]) { receiver in
            let issuer = try TestIssuer()
            let authenticator = try await issuer.subscribed(at: receiver)
            let purchase = try await issuer.purchase()
            try await issuer.push()
            #expect(try await issuer.timeline(purchase).request.pushOutcomes == ["failed 1 \(status)"])
            #expect(try await issuer.endpoint(of: authenticator) == nil)
            _ = try await issuer.purchase()
            try await issuer.push()
            #expect(receiver.count == 1)
        }
    }

    @Test func `another subscription that came meanwhile stays`() async throws {
        let (gate, opener) = AsyncStream<Void>.makeStream()
        try await LocalPushReceiver.run([.init(status: 410, gate: gate)]) { receiver in
            try await LocalPushReceiver.run { next in
                let issuer = try TestIssuer()
                let authenticator = try await issuer.subscribed(at: receiver)
                _ = try await issuer.purchase()
                async let pushed: Void = issuer.push()
                for await _ in receiver.arrivals { break }
                #expect(await issuer.subscribe(authenticator, try next.subscription).status == 204)
                opener.finish()
                try await pushed
                #expect(try await issuer.endpoint(of: authenticator) == next.endpoint.text)
            }
        }
    }

    @Test(arguments: [302, 400, 401, 403, 413])
    func `what would be answered the same again is tried once`(status: Int) async throws {
        let fields: HTTPFields = [.location: "/elsewhere"]
        try await LocalPushReceiver.run([.init(status: status, fields: fields)]) { receiver in
            let issuer = try TestIssuer()
            let authenticator = try await issuer.subscribed(at: receiver)
            let purchase = try await issuer.purchase()
            try await issuer.push()
            issuer.pass(seconds: 500)
            try await issuer.push()
            #expect(receiver.count == 1)
            #expect(try await issuer.timeline(purchase).request.pushOutcomes == ["failed 1 \(status)"])
            #expect(try await issuer.endpoint(of: authenticator) == receiver.endpoint.text)
        }
    }

    @Test(arguments: [408, 500, 502, 503, 429])
    func `trouble is waited out for one second, two, four`(status: Int) async throws {
        try await LocalPushReceiver.run(statuses: [status, status, status]) { receiver in
            let issuer = try TestIssuer()
            _ = try await issuer.subscribed(at: receiver)
            let purchase = try await issuer.purchase()
            for (tries, seconds) in [(1, 1), (2, 2), (3, 4)] {
                try await issuer.push()
                #expect(try await issuer.timeline(purchase).request.pushOutcomes == ["waiting \(tries) \(status)"])
                issuer.pass(seconds: Int64(seconds) - 1)
                try await issuer.push()
                #expect(receiver.count == tries)
                issuer.pass(seconds: 1)
            }
            try await issuer.push()
            #expect(try await issuer.timeline(purchase).request.pushOutcomes == ["delivered 4 201"])
        }
    }

    @Test(arguments: [
        (429, "30", 30), (503, "30", 30), (429, "0", 1), (429, "86400", 3_600), (429, "4294967296", 3_600),
        (429, "-5", 1), (503, "soon", 1), (503, "Tue, 17 Oct 2023 05:57:08 GMT", 30),
        (429, "Tuesday, 17-Oct-23 05:56:08 GMT", 1), (500, "30", 1),
    ])
    func `a busy receiver says when`(status: Int, retryAfter: String, seconds: Int) async throws {
        try await LocalPushReceiver.run([.init(status: status, fields: [.retryAfter: retryAfter])]) { receiver in
            let issuer = try TestIssuer()
            _ = try await issuer.subscribed(at: receiver)
            _ = try await issuer.purchase(["expiresIn": 7_200])
            try await issuer.push()
            issuer.pass(seconds: Int64(seconds) - 1)
            try await issuer.push()
            #expect(receiver.count == 1)
            issuer.pass(seconds: 1)
            try await issuer.push()
            #expect(receiver.count == 2)
        }
    }

    @Test func `after eight tries it is given up`() async throws {
        try await LocalPushReceiver.run(statuses: [Int](repeating: 500, count: 9)) { receiver in
            let issuer = try TestIssuer()
            _ = try await issuer.subscribed(at: receiver)
            let purchase = try await issuer.purchase()
            for _ in 0..<10 {
                try await issuer.push()
                issuer.pass(seconds: 64)
            }
            #expect(receiver.count == 8)
            _ = try await issuer.purchase()
            try await issuer.push()
            #expect(receiver.count == 9)
            #expect(try await issuer.timeline(purchase).request.pushOutcomes == ["failed 8 500"])
        }
    }

    @Test func `a try that would come at the request's expiry is not waited for`() async throws {
        try await LocalPushReceiver.run([.init(status: 503, fields: [.retryAfter: "10"])]) { receiver in
            let issuer = try TestIssuer()
            _ = try await issuer.subscribed(at: receiver)
            let purchase = try await issuer.purchase(["expiresIn": 10])
            try await issuer.push()
            #expect(try await issuer.timeline(purchase).request.pushOutcomes == ["failed 1 503"])
        }
    }

    @Test func `a receiver that does not answer in its time, or is not there, is tried again`() async throws {
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let issuer = try TestIssuer()
        var purchases: [PurchaseView] = []
        try await LocalPushReceiver.run([.init(gate: gate)]) { receiver in
            _ = try await issuer.subscribed(at: receiver)
        }
        purchases.append(try await issuer.purchase())
        try await issuer.push()
        try await LocalPushReceiver.run([.init(gate: gate)]) { receiver in
            _ = try await issuer.subscribed(at: receiver)
            let purchase = try await issuer.purchase()
            // Its time is over once the push has reached it.
            try await issuer.push(.until { for await _ in receiver.arrivals { break } })
            opener.finish()
            #expect(try await issuer.timeline(purchase).request.pushOutcomes == ["waiting 1"])
            #expect(receiver.count == 1)
        }
        for purchase in purchases {
            #expect(try await issuer.timeline(purchase).request.pushOutcomes == ["waiting 1"])
        }
    }
}
