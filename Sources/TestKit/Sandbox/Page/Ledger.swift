import StrictJSON

/// The messages that authenticators sent for a purchase, in order of arrival.
struct Ledger: Sendable {
    struct Entry: Sendable {
        let at: String
        let isTaken: Bool
        let title: String
        var detail: String
        let jti: String
        /// The issuer's checks of an assertion; empty if there was none.
        var checks: [JSONObject]

        /// The first check that an assertion failed.
        var failed: String? {
            checks.first { $0["result"] == .string("failed") }.map { Shown.text($0["check"]) }
        }

        var context: [String: Any] {
            var context: [String: Any] = [
                "at": at, "isTaken": isTaken, "title": title, "detail": detail, "jti": jti,
                "hasChecks": !checks.isEmpty,
                "checks": checks.map { ["check": Shown.text($0["check"]), "result": Shown.text($0["result"])] },
            ]
            context["failed"] = failed
            return context
        }
    }

    /// The limit of entries on a page.
    private static let most = 25

    let entries: [Entry]
    /// The number of entries that are left out.
    let left: Int

    init(_ story: JSONObject) {
        let all = Shown.objects(story["requests"]).flatMap { Self.entries(of: $0, in: story) }
        // Times of one format compare as text. Entries of the same second stay in the order of the timeline.
        let sorted = all.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element)
        entries = Array(sorted.prefix(Self.most))
        left = sorted.count - entries.count
    }

    /// Returns the entries of one request: refused decisions, then the accepted one.
    private static func entries(of request: JSONObject, in story: JSONObject) -> [Entry] {
        let jti = Shown.text(request["jti"])
        var verdicts = Shown.objects(request["refusedAssertions"]).map { Shown.objects($0["verdict"]) }[...]
        var entries = Shown.objects(request["refusedDecisions"]).map { refused in
            let isAssertion = refused["code"] == .string("invalid_assertion")
            return Entry(
                at: Shown.text(refused["at"]), isTaken: false,
                title: "Refused: \(Shown.text(refused["status"])) \(Shown.text(refused["code"]))",
                detail: Shown.text(refused["detail"]), jti: jti, checks: isAssertion ? verdicts.popFirst() ?? [] : [])
        }
        if case .object(let decision)? = request["decision"] {
            let completes = (try? story.object("decision"))?["jti"] == request["jti"]
            entries.append(taken(decision, jti, checks: completes ? Shown.objects(story["verdict"]) : []))
        }
        return entries
    }

    private static func taken(_ decision: JSONObject, _ jti: String, checks: [JSONObject]) -> Entry {
        let reason = decision["reason"].map { " (\(Shown.text($0)))" } ?? ""
        let again = [("repeats", "the same bytes came again"), ("conflicts", "another decision came")]
            .compactMap { member, what in
                let times = (try? decision.integer(member)) ?? 0
                return times > 0 ? "\(what), times: \(times)" : nil
            }
        let (what, result) = (Shown.text(decision["decision"]), Shown.text(decision["transStatus"]))
        return Entry(
            at: Shown.text(decision["at"]), isTaken: true, title: "Taken: \(what)\(reason), transStatus \(result)",
            detail: again.joined(separator: "; "), jti: jti, checks: checks)
    }
}
