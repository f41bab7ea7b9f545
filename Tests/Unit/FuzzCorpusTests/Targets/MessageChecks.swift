import IssuerProtocol
import StrictJSON

/// The bodies of the issuer protocol, on either side.
enum MessageChecks {
    private static let sameAgain = "what was written reads the same"

    /// What the agent reads.
    static func answer(_ input: [UInt8]) throws {
        let issuer = try IssuerURL("https://issuer.example")
        if let answer = try? EnrollmentOptionsAnswer(bytes: input, from: issuer) {
            let again = try EnrollmentOptionsAnswer(bytes: answer.json.serialized(), from: issuer)
            try mustHold(again == answer, sameAgain)
        }
        if let answer = try? EnrollmentAnswer(bytes: input) {
            let again = try EnrollmentAnswer(bytes: answer.json.serialized())
            try mustHold(again.json == answer.json, sameAgain)
            try mustHold(!"\(answer)".contains(answer.accessToken.reveal()), "no printing shows the token")
        }
        if let status = try? AuthenticatorStatus(bytes: input) {
            try mustHold(try AuthenticatorStatus(bytes: status.json.serialized()) == status, sameAgain)
        }
        if let answer = try? DecisionAnswer(bytes: input) {
            try mustHold(try DecisionAnswer(bytes: answer.json.serialized()) == answer, sameAgain)
        }
    }

    /// What an issuer reads.
    static func request(_ input: [UInt8]) throws {
        if let request = try? EnrollmentOptionsRequest(bytes: input) {
            let again = try EnrollmentOptionsRequest(bytes: request.bytes)
            try mustHold(again.enrollmentCode == request.enrollmentCode, sameAgain)
        }
        if let request = try? EnrollmentRequest(bytes: input) {
            try mustHold(try EnrollmentRequest(bytes: request.bytes) == request, sameAgain)
        }
        switch try? DecisionMessage(bytes: input) {
        case .approve(let response)?:
            let again = try DecisionMessage(bytes: DecisionBody.approve(response))
            try mustHold(again == .approve(response), sameAgain)
        case .deny(let reason)?:
            try mustHold(try DecisionMessage(bytes: DecisionBody.deny(reason)) == .deny(reason), sameAgain)
        case nil: break
        }
    }

    static func requestList(_ input: [UInt8]) throws {
        guard let list = try? RequestList(bytes: input) else { return }
        try mustHold(list.requests.count <= 100, "a list has at most 100 requests")
        try mustHold((1...256).contains(list.cursor.unicodeScalars.count), "a cursor has 1 to 256 characters")
        try mustHold(try RequestList(bytes: list.json.serialized()) == list, sameAgain)
    }

    static func batchFetch(_ input: [UInt8]) throws {
        if let request = try? BatchFetchRequest(bytes: input) {
            try mustHold((1...1_000).contains(request.entries.count), "a call is for 1 to 1,000 authenticators")
            try mustHold(try BatchFetchRequest(bytes: request.bytes).bytes == request.bytes, sameAgain)
        }
        if let answer = try? BatchFetchAnswer(bytes: input) {
            let lists = answer.results.compactMap { if case .list(let list) = $0.outcome { list } else { nil } }
            try mustHold(lists.map(\.requests.count).reduce(0, +) <= 100, "an answer has at most 100 requests")
            let unlisted = answer.results.contains { $0.outcome == .problem(nil) }
            let again = try? BatchFetchAnswer(bytes: answer.json.serialized())
            try mustHold(unlisted || again == answer, sameAgain)
        }
    }

    static func retryAfter(_ input: [UInt8]) throws {
        for now in [0, 784_111_777, Int64.max, Int64.min] {
            guard let seconds = RetryAfter.seconds(input.text, now: now) else { continue }
            try mustHold((0...3_600).contains(seconds), "no one waits for more than an hour")
        }
    }
}
