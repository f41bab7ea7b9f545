import PageServing
import SequenceDiagrams
import StrictJSON

/// The page of one purchase: its sequence, the authenticators' messages, and the EMV messages.
struct PurchasePage: Sendable {
    /// The limit of the messages, and of the list of steps, in bytes; the rest is behind a link.
    private static let room = 16_384

    private let story: JSONObject
    private let report: PurchaseReport
    private let token: String
    private let problem: String?

    /// - Parameter problem: the reason why the last form was refused.
    init(of story: JSONObject, token: String, problem: String? = nil) throws {
        self.story = story
        report = try PurchaseReport(story)
        self.token = token
        self.problem = problem
    }

    var page: RenderedPage {
        get throws {
            let transaction = ShownTransaction(story)
            let (place, ledger) = (SandboxPage.purchases + "/" + report.acsTransId, Ledger(story))
            var context: [String: Any] = [
                "title": "\(transaction.amount), \(transaction.merchant)", "place": place, "token": token,
                "amount": transaction.amount, "merchant": transaction.merchant, "status": report.status,
                "isPending": !report.isCompleted, "facts": facts, "ledger": ledger.entries.map(\.context),
                "hasLedger": !ledger.entries.isEmpty, "messages": messages.shown, "hasRest": messages.hasRest,
                "json": SandboxRoutes.purchases + "/" + report.acsTransId,
                // The address changes with the picture, so that the browser loads the new one.
                "version": "\(Shown.objects(story["steps"]).count)-\(report.status)",
            ]
            if ledger.left > 0 { context["left"] = "\(ledger.left)" }
            let list = try report.diagram().list
            if list.utf8.count <= Self.room { context["list"] = list }
            if let problem { context["problem"] = PageText.text(problem) }
            return try RenderedPage("purchase", context)
        }
    }

    private var facts: [[String: String]] {
        let named = [
            ("Result", "transStatus"), ("Authenticator", "authenticatorId"), ("Enrollment", "authenticatorState"),
            ("User verification", "userVerification"), ("Push", "push"), ("Started", "createdAt"),
            ("Ended", "completedAt"), ("Expires", "expiresAt"),
        ]
        let own = named.compactMap { title, member in
            story[member].map { ["title": title, "value": Shown.text($0)] }
        }
        let transaction = (try? story.object("transaction"))?.members ?? []
        return own + transaction.map { ["title": PageText.text($0.name), "value": Shown.text($0.value)] }
    }

    /// The first messages, as many as fit.
    private var messages: (shown: [[String: String]], hasRest: Bool) {
        var (shown, left) = ([[String: String]](), Self.room)
        for message in Shown.objects(story["messages"]) {
            let text = PageText.json(JSONValue.object(message).serialized())
            left -= text.utf8.count
            guard left >= 0 else { return (shown, true) }
            shown.append([
                "id": "message-\(shown.count)", "kind": Shown.text(message["messageType"] ?? message["step"]),
                "text": text,
            ])
        }
        return (shown, false)
    }
}
