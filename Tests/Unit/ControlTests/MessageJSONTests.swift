import Control
import Testing

/// The JSON of each message, literally: scripts depend on the names.
struct MessageJSONTests {
    @Test func `a request has the promised members`() throws {
        var view = RequestView(
            id: "r1", jti: "j1", acsTransId: "2f37539c-d82e-4929-88db-2f9e72c7fa62", enrollmentId: "e1",
            issuer: "https://issuer.example", state: .denied, delivery: .delivered, receivedAt: "2023-10-17T05:56:39Z")
        view.merchantName = "CoffeeHouse2 (Dæmø)"
        view.amount = AmountView(currency: "USD", value: "1.00")
        view.purchaseDate = "2023-10-17T05:56:38Z"
        view.threeDSRequestorAppURL = "https://merchant.example/r?a=%41"
        view.transaction = ["purchaseAmount": "100"]
        view.warnings = [WarningView(id: "fundCode", message: "m", severity: "low")]
        view.reason = "userDenied"
        view.refusal = "nonce"
        view.transStatus = "N"
        view.expiresAt = "2023-10-17T06:06:38Z"
        view.decidedAt = "2023-10-17T05:57:00Z"
        view.text = "Amount: USD 1.00\n"
        view.textDigest = "AA"
        let expected = #"""
            {"acsTransId":"2f37539c-d82e-4929-88db-2f9e72c7fa62","amount":{"currency":"USD","value":"1.00"},
            "decidedAt":"2023-10-17T05:57:00Z","delivery":"delivered","enrollmentId":"e1",
            "expiresAt":"2023-10-17T06:06:38Z","id":"r1","issuer":"https://issuer.example","jti":"j1",
            "merchantName":"CoffeeHouse2 (Dæmø)","purchaseDate":"2023-10-17T05:56:38Z","reason":"userDenied",
            "receivedAt":"2023-10-17T05:56:39Z","refusal":"nonce","state":"denied","text":"Amount: USD 1.00\n",
            "textDigest":"AA","threeDSRequestorAppURL":"https://merchant.example/r?a=%41","transStatus":"N",
            "transaction":{"purchaseAmount":"100"},"warnings":[{"id":"fundCode","message":"m","severity":"low"}]}
            """#
        #expect(try json(view) == joined(expected))
        #expect(ControlAnswerReading.read(try ControlJSON.encode(view), as: RequestView.self) == view)
    }

    @Test func `members without a value are left out`() throws {
        let view = RequestView(
            id: "r1", jti: "j1", acsTransId: "a1", enrollmentId: "e1", issuer: "https://issuer.example",
            state: .pending, delivery: .none, receivedAt: "2023-10-17T05:56:39Z")
        let expected = """
            {"acsTransId":"a1","delivery":"none","enrollmentId":"e1","id":"r1","issuer":"https://issuer.example",
            "jti":"j1","receivedAt":"2023-10-17T05:56:39Z","state":"pending","warnings":[]}
            """
        #expect(try json(view) == joined(expected))
        #expect(ControlAnswerReading.read(try ControlJSON.encode(view), as: RequestView.self) == view)
    }

    @Test(arguments: ["e\u{301}", "\u{E9}", "\u{202E}", "\u{1F600}", "\"\\/\t\u{0}\u{7F}"])
    func `text keeps its bytes through JSON`(text: String) throws {
        let message = FetchFailureView(issuer: "i", message: text)
        let back = ControlAnswerReading.read(try ControlJSON.encode(message), as: FetchFailureView.self)
        #expect(back.map { Array($0.message.utf8) } == Array(text.utf8))
    }

    @Test func `an enrollment has the promised members`() throws {
        var view = EnrollmentView(
            id: "e1", issuer: "https://issuer.example", algorithm: -7, authnType: "presence", keyUri: "file:e1.key",
            key: KeyView(kind: "file", exportable: true), name: "laptop", state: .active, signCount: 41)
        view.authenticatorId = "a1"
        view.credentialId = "AQ"
        view.enrolledAt = "2023-10-17T05:56:38Z"
        let expected = """
            {"algorithm":-7,"authenticatorId":"a1","authnType":"presence","credentialId":"AQ",
            "enrolledAt":"2023-10-17T05:56:38Z","id":"e1","issuer":"https://issuer.example",
            "key":{"exportable":true,"kind":"file"},"keyUri":"file:e1.key",
            "name":"laptop","signCount":41,"state":"active"}
            """
        #expect(try json(view) == joined(expected))
    }

    @Test func `status, health, fetch and unenroll have the promised members`() throws {
        #expect(
            try json(StatusView(version: "0.1.0", state: .ready, pending: 1, queued: 2))
                == #"{"enrollments":[],"pending":1,"personas":false,"queued":2,"reasons":[],"state":"ready","version":"0.1.0","warnings":[]}"#
        )
        #expect(try json(HealthView(ready: true)) == #"{"live":true,"ready":true,"reasons":[]}"#)
        #expect(
            try json(FetchView(pending: 3, failures: [FetchFailureView(issuer: "https://i.example", message: "down")]))
                == #"{"failures":[{"issuer":"https://i.example","message":"down"}],"pending":3}"#)
        #expect(
            try json(UnenrolledView(id: "e1", wasEnrolled: false))
                == #"{"id":"e1","unenrolled":true,"wasEnrolled":false}"#)
    }

    @Test func `the states are those that are promised`() {
        #expect(
            RequestState.allCases.map(\.rawValue)
                == ["pending", "approved", "denied", "expired", "cancelled", "refused"])
        #expect(DeliveryState.allCases.map(\.rawValue) == ["none", "queued", "delivered", "failed"])
        #expect(EnrollmentState.allCases.map(\.rawValue) == ["enrolling", "active", "suspended", "blocked"])
        #expect(AgentState.allCases.map(\.rawValue) == ["starting", "ready", "degraded"])
    }

    private func json(_ message: some Encodable) throws -> String {
        String(decoding: try ControlJSON.encode(message), as: UTF8.self)
    }

    private func joined(_ text: String) -> String { text.split(separator: "\n").joined() }
}
