import StrictJSON
import ThreeDS

/// What the sandbox saw of a load.
package struct LoadReport: Sendable {
    let plan: LoadPlan
    let authenticators: Int
    /// How many were sent, and how many of these the sandbox took.
    let sent: Int
    /// Seconds from when the last was due until it was sent.
    let lastLag: Double
    let started: Int
    /// What the sandbox said to those that it did not take, each with how often.
    let refusals: [String: Int]
    /// By status, `pending` among them.
    let outcomes: [String: Int]
    /// From when a purchase was due until its result was there, of those that were decided.
    let latency: Percentiles
    /// Seconds from the start to the last decision.
    let decidedWithin: Double
    /// Why the outcomes are not known; nil if they are.
    let problem: String?

    /// A machine that can send no more falls ever further behind; a second late is a hiccup.
    package var hasReachedRate: Bool { sent == plan.count && (lastLag <= 1 || reachedRate >= Double(plan.rate) * 0.99) }
    package var isComplete: Bool { hasReachedRate && started == sent && problem == nil }

    private var decided: Int { (outcomes["authenticated"] ?? 0) + (outcomes["notAuthenticated"] ?? 0) }
    private var reachedRate: Double { Double(sent) / (Double(plan.seconds) + lastLag) }
    private var decidedPerSecond: Double { decidedWithin > 0 ? Double(decided) / decidedWithin : 0 }

    /// What was not as asked, a sentence each.
    package var complaints: [String] {
        var complaints: [String] = []
        if !hasReachedRate {
            complaints.append(
                "asked for \(plan.rate) purchases a second, sent \(Self.text(reachedRate)): more were not taken in time"
            )
        }
        complaints += refusals.sorted { $0.key < $1.key }.map { "\($0.value) purchases were not started: \($0.key)" }
        if let problem { complaints.append(problem) }
        return complaints
    }

    package var text: String {
        var lines = [
            "asked:      \(plan.rate) purchases a second for \(plan.seconds) s, of \(authenticators) authenticators",
            "sent:       \(sent), \(Self.text(reachedRate)) a second; started: \(started)",
        ]
        let names = PurchaseRegister.Status.allCases.map(\.rawValue)
        let counts = names.compactMap { name in outcomes[name].map { "\(name) \($0)" } }
        lines.append("outcomes:   \(counts.isEmpty ? "none" : counts.joined(separator: ", "))")
        lines.append("decided:    \(decided), \(Self.text(decidedPerSecond)) a second")
        lines.append("latency:    \(latency.text) (from when a purchase was due to its result)")
        return lines.joined(separator: "\n")
    }

    package var json: String {
        let object: JSONObject = [
            "asked": [
                "rate": .integer(plan.rate), "seconds": .integer(plan.seconds),
                "purchases": .integer(Int64(plan.count)),
            ],
            "authenticators": .integer(Int64(authenticators)), "sent": .integer(Int64(sent)),
            "sentPerSecond": .number(Self.text(reachedRate)), "started": .integer(Int64(started)),
            "refusals": .object(JSONObject(refusals.sorted { $0.key < $1.key }.map(Self.member))),
            "outcomes": .object(JSONObject(outcomes.sorted { $0.key < $1.key }.map(Self.member))),
            "decided": .integer(Int64(decided)), "decidedPerSecond": .number(Self.text(decidedPerSecond)),
            "latencyMilliseconds": latency.json,
        ]
        return ShownJSON.escaped(JSONValue.object(object).text)
    }

    private static func member(_ pair: (key: String, value: Int)) -> JSONObject.Member {
        JSONObject.Member(name: pair.key, value: .integer(Int64(pair.value)))
    }

    /// One decimal.
    private static func text(_ number: Double) -> String {
        let tenths = Int64((number * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
