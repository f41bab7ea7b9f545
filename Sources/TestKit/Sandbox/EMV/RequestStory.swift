import GRDB
import StrictJSON

/// An authn request of a purchase, with its decision, refusals and pushes.
struct RequestStory: Sendable {
    let request: RequestRecord
    let decision: DecisionRecord?
    private let refusedAssertions: [JSONValue]
    private let refusedDecisions: [JSONValue]
    /// The time and the code of each refused decision.
    let refusals: [(at: Int64, code: String)]
    private let pushes: [PushRecord]
    private let isOver: Bool

    init(_ request: RequestRecord, now: Int64, _ db: Database) throws {
        self.request = request
        decision = try DecisionRecord.of(request.jti, db)
        isOver = now >= request.exp
        pushes = try PushRecord.all(of: request.jti, db)
        refusedAssertions = try RefusedDecisions.of(request.jti, db, as: RefusedAssertionRecord.self).map(\.json)
        let refused = try RefusedDecisions.of(request.jti, db, as: RefusedDecisionRecord.self)
        refusedDecisions = refused.map(\.json)
        refusals = refused.map { ($0.at, $0.code ?? "\($0.status)") }
    }

    func decisionJSON(_ decision: DecisionRecord) -> JSONObject {
        var json: JSONObject = ["jti": .string(request.jti)]
        json["decision"] = decision.body["decision"]
        json["reason"] = decision.body["reason"]
        json["transStatus"] = .string(decision.transStatus)
        json["at"] = .time(decision.at)
        json["traceparent"] = decision.traceparent.map(JSONValue.string)
        json["repeats"] = .integer(decision.repeats)
        json["conflicts"] = .integer(decision.conflicts)
        return json
    }

    var json: JSONValue {
        var json: JSONObject = [
            "jti": .string(request.jti), "iat": .integer(request.iat), "exp": .integer(request.exp),
            "state": .string(state), "jws": .string(request.jws),
        ]
        json["decision"] = decision.map { .object(decisionJSON($0)) }
        if !pushes.isEmpty { json["pushes"] = .array(pushes.map(\.json)) }
        if !refusedAssertions.isEmpty { json["refusedAssertions"] = .array(refusedAssertions) }
        if !refusedDecisions.isEmpty { json["refusedDecisions"] = .array(refusedDecisions) }
        return .object(json)
    }

    private var state: String {
        if decision != nil { return "decided" }
        if request.cancelledAt != nil { return "cancelled" }
        return isOver ? "expired" : "open"
    }
}
