import IssuerProtocol
import Sandbox
import StrictJSON
import Testing

/// What is pushed of a purchase, taken by a receiver on loopback.
@Suite struct PushPurchaseTests {
    @Test(
        arguments: [
            (nil, "jws", 1), ("both", "jws", 1), ("hint", "hint", 1), ("only", "jws", 0), ("none", nil, 1),
        ] as [(String?, String?, Int)])
    func `a request goes the ways that the purchase names`(way: String?, form: String?, listed: Int) async throws {
        try await LocalPushReceiver.run { receiver in
            let issuer = try TestIssuer()
            let authenticator = try await issuer.subscribed(at: receiver)
            let purchase = try await issuer.purchase(way.map { ["push": .string($0)] } ?? [:])
            try await issuer.push()
            let jws = try purchase.request.jws
            let expected: PushBody? = form.map { $0 == "jws" ? .message(jws) : .hint }
            #expect(try await receiver.bodies(from: issuer) == [expected].compactMap { $0 })
            #expect(try await issuer.listed(authenticator).requests.count == listed)
            let timeline = try await issuer.timeline(purchase)
            #expect(try timeline.json.string("push") == way ?? "both")
            #expect(try timeline.request.pushes.map { try $0.string("form") } == [form].compactMap { $0 })
            #expect(try timeline.request.pushOutcomes == (form == nil ? [] : ["delivered 1 201"]))
        }
    }

    @Test func `a push lives as long as its request, and is urgent`() async throws {
        try await LocalPushReceiver.run { receiver in
            let issuer = try TestIssuer()
            _ = try await issuer.subscribed(at: receiver)
            _ = try await issuer.purchase(["expiresIn": 77])
            issuer.pass(seconds: 7)
            try await issuer.push()
            let headers = try await receiver.messages(from: issuer).map(\.headers)
            #expect(headers.map(\.ttl) == [70])
            #expect(headers.map(\.urgency) == [.high])
        }
    }

    @Test func `without a subscription nothing is pushed, and push only is refused`() async throws {
        let issuer = try TestIssuer()
        let authenticator = try await issuer.enrolled()
        #expect(try await issuer.purchase().request.pushes.isEmpty)
        let reply = await issuer.post("/sandbox/purchases", ["push": "only"])
        #expect(reply.outcome == "409")
        #expect(reply.detail?.contains("push: only") == true)
        #expect(try await issuer.listed(authenticator).requests.count == 1)
    }

    @Test(arguments: ["", "push", "BOTH"])
    func `another way is refused and the ways are named`(way: String) async throws {
        let issuer = try TestIssuer()
        _ = try await issuer.enrolled()
        let reply = await issuer.post("/sandbox/purchases", ["push": .string(way)])
        #expect(reply.status == 400)
        #expect(reply.detail == "push: must be one of both, hint, only, none")
    }

    /// An order whose transaction has that many characters more.
    private func order(longerBy count: Int, push: String) -> JSONObject {
        var order: JSONObject = ["push": .string(push)]
        for start in stride(from: 0, to: count, by: 1_000) {
            order["more\(start)"] = .string(String(repeating: "x", count: min(count - start, 1_000)))
        }
        return order
    }

    @Test func `a request of 3,993 bytes is pushed as it is, a longer one as a hint or not at all`() async throws {
        try await LocalPushReceiver.run { receiver in
            let issuer = try TestIssuer()
            _ = try await issuer.subscribed(at: receiver)
            let probe = try await issuer.purchase(order(longerBy: 2_100, push: "none")).request.jws.utf8.count
            // Four bytes of base64url stand for three.
            let about = 2_100 + (3_993 - probe) * 3 / 4
            var isHint: Set<Bool> = []
            for count in about - 2...about + 2 {
                let request = try await issuer.purchase(order(longerBy: count, push: "both")).request
                let fits = request.jws.utf8.count <= 3_993
                #expect(try request.pushes.map { try $0.string("form") } == [fits ? "jws" : "hint"])
                let only = await issuer.post("/sandbox/purchases", order(longerBy: count, push: "only"))
                #expect(only.status == (fits ? 201 : 400), "\(only)")
                isHint.insert(!fits)
            }
            #expect(isHint == [true, false])
            try await issuer.push()
            #expect(Set(try await receiver.bodies(from: issuer).map { $0 == .hint }) == [true, false])
        }
    }

    @Test(arguments: [("both", 1), ("only", 0)])
    func `what takes a request back goes the same ways`(way: String, listed: Int) async throws {
        try await LocalPushReceiver.run { receiver in
            let issuer = try TestIssuer()
            let authenticator = try await issuer.subscribed(at: receiver)
            let purchase = try await issuer.purchase(["push": .string(way)])
            try await issuer.push()
            #expect(await issuer.post("/sandbox/purchases/\(purchase.acsTransId)/cancel").status == 200)
            try await issuer.push()
            let requests = try await issuer.listed(authenticator).requests
            #expect(requests.count == listed)
            let bodies = try await receiver.bodies(from: issuer)
            guard bodies.count == 2, case .message(let jws) = bodies[1] else {
                Issue.record("\(bodies)")
                return
            }
            let payload = try JSONReader.object(
                CompactJWS.parse(jws).payload, limits: JSONLimits(maxBytes: 16_384))
            #expect(try payload.string("cancels") == purchase.request.jti)
            #expect(requests.isEmpty || requests == [jws])
            let pushes = try await issuer.timeline(purchase).request.pushes
            #expect(try pushes.map { try $0.string("message") } == ["request", "cancellation"])
        }
    }

    @Test func `a request can be pushed several times, and again later by that way alone`() async throws {
        try await LocalPushReceiver.run { receiver in
            let issuer = try TestIssuer()
            let authenticator = try await issuer.subscribed(at: receiver)
            let order: JSONObject = [
                "acsTransId": "2f37539c-d82e-4929-88db-2f9e72c7fa62", "purchaseDate": "20231017055638", "repeat": 2,
            ]
            let purchase = try await issuer.purchase(order)
            var again = order
            again["push"] = "only"
            _ = try await issuer.purchase(again)
            try await issuer.push()
            let jws = try purchase.request.jws
            #expect(try await receiver.bodies(from: issuer) == [PushBody](repeating: .message(jws), count: 4))
            #expect(try await issuer.listed(authenticator).requests == [jws, jws])
        }
    }

    @Test func `a request that is over is not pushed any more`() async throws {
        try await LocalPushReceiver.run { receiver in
            let issuer = try TestIssuer()
            let authenticator = try await issuer.subscribed(at: receiver)
            let decided = try await issuer.purchase()
            let body = DecisionBody.deny(.userDenied)
            #expect(await issuer.decide(try decided.request.jti, body, by: authenticator).status == 200)
            let late = try await issuer.purchase(["expiresIn": 5])
            issuer.pass(seconds: 5)
            let ended = try await issuer.purchase()
            _ = await issuer.call("DELETE", "/v1/authenticator/push-subscription", token: authenticator.token)
            try await issuer.push()
            #expect(receiver.count == 0)
            #expect(try await issuer.timeline(decided).request.pushOutcomes == ["withdrawn 0"])
            #expect(try await issuer.timeline(late).request.pushOutcomes == ["expired 1 expired"])
            #expect(try await issuer.timeline(ended).request.pushOutcomes == ["failed 1 noSubscription"])
        }
    }
}
