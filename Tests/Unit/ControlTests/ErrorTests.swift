import Control
import Testing

struct ErrorTests {
    struct Row: Sendable {
        let token: String
        let status: Int
        let exit: Int32
        let d1Code: Int
    }

    static let table = [
        Row(token: "invalid_argument", status: 400, exit: 64, d1Code: 60002),
        Row(token: "not_found", status: 404, exit: 3, d1Code: 60002),
        Row(token: "no_request", status: 404, exit: 3, d1Code: 70001),
        Row(token: "ambiguous", status: 409, exit: 64, d1Code: 60002),
        Row(token: "expectation_failed", status: 412, exit: 4, d1Code: 70001),
        Row(token: "user_not_verified", status: 403, exit: 5, d1Code: 70003),
        Row(token: "pin_required", status: 403, exit: 5, d1Code: 70003),
        Row(token: "blocked", status: 423, exit: 6, d1Code: 70004),
        Row(token: "no_longer_decidable", status: 409, exit: 7, d1Code: 70001),
        Row(token: "not_in_time", status: 409, exit: 1, d1Code: 70001),
        Row(token: "not_enrolled", status: 409, exit: 8, d1Code: 70002),
        Row(token: "invalid_enrollment_code", status: 403, exit: 9, d1Code: 70005),
        Row(token: "issuer_unreachable", status: 502, exit: 1, d1Code: 70001),
        Row(token: "issuer_refused", status: 502, exit: 1, d1Code: 70001),
        Row(token: "already_enrolled", status: 409, exit: 1, d1Code: 70001),
        Row(token: "key_unavailable", status: 503, exit: 1, d1Code: 70006),
        Row(token: "storage", status: 500, exit: 1, d1Code: 20001),
        Row(token: "storage_in_doubt", status: 500, exit: 11, d1Code: 20001),
        Row(token: "access_denied", status: 403, exit: 1, d1Code: 70003),
        Row(token: "method_not_allowed", status: 405, exit: 64, d1Code: 60002),
        Row(token: "not_acceptable", status: 406, exit: 64, d1Code: 60002),
        Row(token: "body_too_large", status: 413, exit: 64, d1Code: 60002),
        Row(token: "not_json", status: 415, exit: 64, d1Code: 60002),
        Row(token: "header_too_large", status: 431, exit: 64, d1Code: 60002),
        Row(token: "too_many_requests", status: 429, exit: 1, d1Code: 20001),
        Row(token: "try_later", status: 429, exit: 75, d1Code: 20001),
        Row(token: "failed", status: 500, exit: 1, d1Code: 20001),
    ]

    @Test(arguments: table) func `a token has its status, exit status and number`(row: Row) throws {
        let token = try #require(ErrorToken(rawValue: row.token))
        #expect(token.httpStatus == row.status)
        #expect(token.exitStatus.rawValue == row.exit)
        #expect(token.d1Code.rawValue == row.d1Code)
    }

    @Test func `the table names every token`() {
        #expect(Self.table.map(\.token) == ErrorToken.allCases.map(\.rawValue))
    }

    @Test func `D1's numbers have D1's names`() {
        let expected = [
            "10001 cancelled", "20001 core", "60002 invalidArgument", "70001 authn", "70002 authnNotEnrolled",
            "70003 authnAccessDenied", "70004 authnBlocked", "70005 authnInvalidEnrollmentToken",
            "70006 authenticatorNotAvailable",
        ]
        #expect(D1Code.allCases.map { "\($0.rawValue) \($0.name)" } == expected)
    }

    @Test func `an error is problem JSON`() throws {
        let error = ControlError(.notEnrolled, "No enrollment at this issuer.")
        let expected = """
            {"code":"not_enrolled","d1Code":70002,"d1Name":"authnNotEnrolled","detail":"No enrollment at this issuer.","status":409,\
            "title":"Not enrolled","type":"about:blank"}
            """
        #expect(String(decoding: try ControlJSON.encode(error), as: UTF8.self) == expected)
    }

    @Test func `a client reads the agent's error with its request`() throws {
        let request = RequestView(
            id: "r1", jti: "j1", acsTransId: "a1", enrollmentId: "e1", issuer: "https://issuer.example",
            state: .expired, delivery: .none, receivedAt: "2023-10-17T05:56:39Z")
        let error = ControlError(.noLongerDecidable, "It has expired.", code: .core, request: request)
        let body = String(decoding: try ControlJSON.encode(error), as: UTF8.self)
        let contentType = "application/problem+json; charset=utf-8"
        let failure = ControlAnswerReading.failure(status: 409, contentType: contentType, body: body)
        #expect(failure == .refused(error))
        #expect(failure?.exitStatus == .noLongerDecidable)
    }

    @Test func `an error that only a later agent knows keeps its sentence`() {
        let body = #"{"code":"moon_phase","d1Code":79999,"detail":"The moon is new.","request":{"state":"parked"}}"#
        let failure = ControlAnswerReading.failure(
            status: 418, contentType: "application/problem+json", body: body)
        #expect(failure == .refused(ControlError(.failed, "The moon is new.", code: .core)))
    }

    @Test func `an error has the promised JSON on standard error`() throws {
        let view = ErrorView(.authnAccessDenied, "Not verified.")
        let expected = #"{"error":{"code":70003,"message":"Not verified.","name":"authnAccessDenied"}}"#
        #expect(String(decoding: try ControlJSON.encode(view), as: UTF8.self) == expected)
    }

    @Test(arguments: [nil, "text/html", "application/jsonx"])
    func `an answer of another media type is not an agent's`(contentType: String?) {
        let body = #"{"live":true,"ready":true,"reasons":[]}"#
        let failure = ControlAnswerReading.failure(status: 200, contentType: contentType, body: body)
        #expect(failure?.exitStatus == .unreachable)
    }

    @Test(arguments: [(200, "{}"), (200, ""), (200, "["), (500, #"{"live":true,"ready":true,"reasons":[]}"#)])
    func `an answer that cannot be read is a failure, not a success`(status: UInt, body: String) {
        let failure = ControlAnswerReading.failure(status: status, contentType: "application/json", body: body)
        #expect(failure?.exitStatus == .failed)
    }

    @Test func `a later version's reason counts as failed, and its sentence reaches the person`() {
        let body = #"{"type":"about:blank","title":"x","status":409,"detail":"Try later.","code":"new","d1Code":79999}"#
        let failure = ControlAnswerReading.failure(status: 409, contentType: "application/problem+json", body: body)
        #expect(failure == .refused(ControlError(.failed, "Try later.")))
        #expect(failure?.exitStatus == .failed)
    }

    @Test func `members of a later version are ignored in an answer`() {
        let body = #"{"live":true,"ready":true,"reasons":[],"later":[1]}"#
        #expect(ControlAnswerReading.failure(status: 200, contentType: "Application/JSON ;x=y", body: body) == nil)
    }
}
