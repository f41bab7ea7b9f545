import IssuerProtocol
import Keys
import StrictJSON
import Testing
import WebAuthn

struct MessageTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(arguments: DenyReason.allCases)
    func `a deny is read back`(reason: DenyReason) throws {
        #expect(try DecisionMessage(bytes: DecisionBody.deny(reason)) == .deny(reason))
    }

    @Test func `a deny is these bytes`() {
        #expect(DecisionBody.deny(.userDenied) == bytes(#"{"decision":"deny","reason":"userDenied"}"#))
    }

    @Test func `an approve is read back, and the same each time`() throws {
        let response = AuthenticationResponse(
            credentialId: [1, 2, 3], clientDataJSON: bytes("{}"), authenticatorData: Array(repeating: 1, count: 37),
            signature: [4, 5], userHandle: [6])
        let body = DecisionBody.approve(response)
        #expect(try DecisionMessage(bytes: body) == .approve(response))
        #expect(DecisionBody.approve(response) == body)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"decision":"Deny","reason":"policy"}"#, #"{"decision":"deny"}"#, #"{"decision":"approve"}"#,
        #"{"decision":"deny","reason":"none"}"#, #"{"decision":"approve","credential":{}}"#,
        #"{"decision":"deny","decision":"deny","reason":"policy"}"#,
    ])
    func `anything else is no decision`(text: String) {
        #expect(throws: ProtocolError.self) { try DecisionMessage(bytes: bytes(text)) }
    }

    @Test(arguments: TransStatus.allCases)
    func `the answer to a decision is read back`(status: TransStatus) throws {
        #expect(try DecisionAnswer(bytes: DecisionAnswer(transStatus: status).json.serialized()).transStatus == status)
    }

    @Test(arguments: ["", "OK", "{}", #"{"transStatus":"y"}"#, #"{"transStatus":"A"}"#, #"{"transStatus":true}"#])
    func `any other answer is none`(text: String) {
        #expect(throws: ProtocolError.self) { try DecisionAnswer(bytes: bytes(text)) }
    }

    @Test(arguments: [
        ([], "c"), (["a", "b"], "é"), (Array(repeating: "x", count: 100), String(repeating: "😀", count: 256)),
    ])
    func `a list of up to 100 requests is read back`(requests: [String], cursor: String) throws {
        let list = RequestList(requests: requests, cursor: cursor)
        #expect(try RequestList(bytes: list.json.serialized()) == list)
    }

    @Test(arguments: [
        RequestList(requests: Array(repeating: "x", count: 101), cursor: "c"), RequestList(requests: [], cursor: ""),
        RequestList(requests: [], cursor: String(repeating: "x", count: 257)),
    ])
    func `a list out of its bounds is refused`(list: RequestList) {
        #expect(throws: ProtocolError.self) { try RequestList(bytes: list.json.serialized()) }
    }

    @Test(arguments: ["{}", #"{"requests":[]}"#, #"{"cursor":"c"}"#, #"{"requests":[1],"cursor":"c"}"#])
    func `what is no list is refused`(text: String) {
        #expect(throws: ProtocolError.self) { try RequestList(bytes: bytes(text)) }
    }

    @Test func `a list has 2 MiB at most, a message that is too large within it is left alone`() throws {
        let frame = RequestList(requests: [""], cursor: "c").json.serialized().count
        func list(_ count: Int) -> [UInt8] {
            RequestList(requests: [String(repeating: "x", count: count - frame)], cursor: "c").json.serialized()
        }
        #expect(try RequestList(bytes: list(2_097_152)).requests.count == 1)
        #expect(throws: ProtocolError.self) { try RequestList(bytes: list(2_097_153)) }
    }

    @Test(arguments: [0, 41, UInt32.max])
    func `an authenticator's state is read back`(signCount: UInt32) throws {
        let status = AuthenticatorStatus(authenticatorId: try #require(TokenID("a")), signCount: signCount)
        #expect(try AuthenticatorStatus(bytes: status.json.serialized()) == status)
    }

    @Test(arguments: [
        #"{"authenticatorId":"a"}"#, #"{"authenticatorId":"a","signCount":-1}"#,
        #"{"authenticatorId":"a","signCount":4294967296}"#, #"{"authenticatorId":"a b","signCount":1}"#,
    ])
    func `any other state is refused`(text: String) {
        #expect(throws: ProtocolError.self) { try AuthenticatorStatus(bytes: bytes(text)) }
    }
}
