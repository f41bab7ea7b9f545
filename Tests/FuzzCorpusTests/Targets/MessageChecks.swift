import IssuerProtocol
import StrictJSON

/// The bodies of the issuer protocol, on either side.
enum MessageChecks {
    private static let sameAgain = "what was written reads the same"

    /// What the agent reads.
    static func answer(_ input: [UInt8]) throws {
        if let answer = try? EnrollmentOptionsAnswer(octets: input) {
            let again = try EnrollmentOptionsAnswer(octets: answer.json.serialized())
            try mustHold(again == answer, sameAgain)
        }
        if let answer = try? EnrollmentAnswer(octets: input) {
            let again = try EnrollmentAnswer(octets: answer.json.serialized())
            try mustHold(again.json == answer.json, sameAgain)
            try mustHold(!"\(answer)".contains(answer.accessToken.reveal()), "no printing shows the token")
        }
        if let status = try? AuthenticatorStatus(octets: input) {
            try mustHold(try AuthenticatorStatus(octets: status.json.serialized()) == status, sameAgain)
        }
        if let answer = try? DecisionAnswer(octets: input) {
            try mustHold(try DecisionAnswer(octets: answer.json.serialized()) == answer, sameAgain)
        }
    }

    /// What an issuer reads.
    static func request(_ input: [UInt8]) throws {
        if let request = try? EnrollmentOptionsRequest(octets: input) {
            let again = try EnrollmentOptionsRequest(octets: request.octets)
            try mustHold(again.enrollmentCode == request.enrollmentCode, sameAgain)
        }
        if let request = try? EnrollmentRequest(octets: input) {
            try mustHold(try EnrollmentRequest(octets: request.octets) == request, sameAgain)
        }
        switch try? DecisionMessage(octets: input) {
        case .approve(let response)?:
            let again = try DecisionMessage(octets: DecisionBody.approve(response))
            try mustHold(again == .approve(response), sameAgain)
        case .deny(let reason)?:
            try mustHold(try DecisionMessage(octets: DecisionBody.deny(reason)) == .deny(reason), sameAgain)
        case nil: break
        }
    }

    static func requestList(_ input: [UInt8]) throws {
        guard let list = try? RequestList(octets: input) else { return }
        try mustHold(list.requests.count <= 100, "a list has at most 100 requests")
        try mustHold((1...256).contains(list.cursor.unicodeScalars.count), "a cursor has 1 to 256 characters")
        try mustHold(try RequestList(octets: list.json.serialized()) == list, sameAgain)
    }

    static func batchFetch(_ input: [UInt8]) throws {
        if let request = try? BatchFetchRequest(octets: input) {
            try mustHold((1...1_000).contains(request.entries.count), "a call is for 1 to 1,000 authenticators")
            try mustHold(try BatchFetchRequest(octets: request.octets).octets == request.octets, sameAgain)
        }
        if let answer = try? BatchFetchAnswer(octets: input) {
            let lists = answer.results.compactMap { if case .list(let list) = $0.outcome { list } else { nil } }
            try mustHold(lists.map(\.requests.count).reduce(0, +) <= 100, "an answer has at most 100 requests")
            let unlisted = answer.results.contains { $0.outcome == .problem(nil) }
            let again = try? BatchFetchAnswer(octets: answer.json.serialized())
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
