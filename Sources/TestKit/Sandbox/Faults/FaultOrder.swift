import StrictJSON

/// The body of `POST /sandbox/faults`.
package struct FaultOrder: Sendable {
    /// The faults to append to the plan.
    let plan: [PlannedFault]
    /// The odds that replace the current ones, or `nil` to keep them.
    let odds: FaultSpec?

    /// Reads `{"next"?, "odds"?}`, of which at least one must be present.
    init(_ body: JSONObject) throws {
        try body.refuseMembers(except: ["next", "odds"])
        odds = try body.optionalString("odds", bytes: 1...4_096).map(Self.spec)
        let hasPlan = body["next"] ?? .null != .null
        guard hasPlan || odds != nil else {
            throw SandboxError.badRequest("next: missing; a call needs next, odds, or both")
        }
        plan = hasPlan ? try PlannedFault.plan(body) : []
    }

    private static func spec(_ text: String) throws(SandboxError) -> FaultSpec {
        do throws(FaultSpec.ParseError) { return try FaultSpec(text) } catch {
            throw .badRequest("odds: \(error)")
        }
    }

    /// Builds the body from odds, as for `--faults`, and single calls, each as `NAME=VALUE,NAME=VALUE`.
    static func body(odds: String?, next: [String]) throws(SandboxError) -> JSONObject {
        var body: JSONObject = [:]
        body["odds"] = odds.map(JSONValue.string)
        if !next.isEmpty {
            var entries: [JSONValue] = []
            for text in next { entries.append(.object(try entry(text))) }
            body["next"] = .array(entries)
        }
        return body
    }

    private static func entry(_ text: String) throws(SandboxError) -> JSONObject {
        var members: [JSONObject.Member] = []
        for pair in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !members.contains(where: { $0.name == parts[0] }) else {
                throw .badRequest(
                    "next: must be NAME=VALUE joined by commas, each name once, such as path=decision,kind=drop,times=2"
                )
            }
            let value = String(parts[1])
            members.append(
                .init(name: String(parts[0]), value: Odds.isDigits(parts[1]) ? .number(value) : .string(value)))
        }
        return JSONObject(members)
    }
}
