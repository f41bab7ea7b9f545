import GRDB
import IssuerProtocol
import PageServing
import StrictJSON
import TextAndTime
import ThreeDS

/// The home page: forms for orders, and lists of the sandbox's state.
struct HomePage: Sendable {
    /// The limit of rows in each list.
    private static let rows = 20

    private let issuer: IssuerURL
    private let token: String
    private let fields: PurchaseFields
    private let problem: String?
    private let purchases: JSONObject
    private let faults: JSONObject
    private let clock: JSONObject
    private let authenticators: [AuthenticatorRecord]
    private let enrolled: Int
    private let codes: [EnrollmentCodeRecord]

    /// - Parameter problem: the reason why the last form, with these fields, was refused.
    init(of page: SandboxPage, fields: PurchaseFields = PurchaseFields(), problem: String? = nil) async throws {
        issuer = try page.backend.site.get().issuer
        token = page.token
        self.fields = fields
        self.problem = problem
        purchases = try await page.calls.call("GET", SandboxRoutes.purchases, query: ["limit": "\(Self.rows)"])
        faults = try await page.calls.call("GET", SandboxRoutes.faults)
        clock = try await page.calls.call("GET", SandboxRoutes.clock)
        let now = page.backend.now
        (authenticators, enrolled, codes) = try await page.backend.store.read { db in
            (
                try AuthenticatorRecord.rows(db, "WHERE endedAt IS NULL ORDER BY seq DESC LIMIT ?", [Self.rows]),
                try Int.fetchOne(db, sql: "SELECT count(*) FROM authenticator WHERE endedAt IS NULL") ?? 0,
                try EnrollmentCodeRecord.rows(
                    db, "WHERE usedAt IS NULL AND expiresAt > ? ORDER BY rowid DESC LIMIT 3", [now])
            )
        }
    }

    var page: RenderedPage {
        get throws {
            var context: [String: Any] = [
                "title": "Sandbox issuer", "place": "/", "issuer": issuer.text, "token": token,
                "presets": Preset.allCases.map { ["name": $0.rawValue, "title": $0.title] },
                "fields": fields.values, "purchases": rows, "hasPurchases": !rows.isEmpty,
                "hasMore": purchases["next"] != nil, "more": SandboxRoutes.purchases,
                "authenticators": authenticators.map(Self.row), "hasAuthenticators": !authenticators.isEmpty,
                "options": authenticators.map(option), "codes": codes.map(row), "hasCodes": !codes.isEmpty,
                "isTestClock": clock["isTest"] == .bool(true), "faults": faultLines, "hasFaults": !faultLines.isEmpty,
            ]
            if enrolled > authenticators.count { context["others"] = "\(enrolled - authenticators.count)" }
            if let problem { context["problem"] = PageText.text(problem) }
            return try RenderedPage("home", context, passing: ["now": Self.time(clock)])
        }
    }

    private var rows: [[String: Any]] {
        Shown.objects(purchases["purchases"]).map { purchase in
            let transaction = ShownTransaction(purchase)
            return [
                "link": SandboxPage.purchases + "/" + Shown.plain(purchase["acsTransId"]),
                "amount": transaction.amount, "merchant": transaction.merchant,
                "status": Shown.text(purchase["status"]), "at": Shown.text(purchase["createdAt"]),
            ]
        }
    }

    private static func row(_ record: AuthenticatorRecord) -> [String: Any] {
        [
            "id": PageText.text(record.id), "name": PageText.text(record.name),
            "version": PageText.text(record.version), "type": PageText.text(record.authnType),
            "count": "\(record.signCount)",
        ]
    }

    private func option(_ record: AuthenticatorRecord) -> [String: Any] {
        var option = Self.row(record)
        option["isChosen"] = fields.values["authenticator"] == record.id
        return option
    }

    private func row(_ code: EnrollmentCodeRecord) -> [String: Any] {
        let link = EnrollmentCodes.link(issuer, code.code)
        return [
            "code": code.code, "link": link, "command": "oobctl enroll '\(link)'",
            "until": UTCTime.text(code.expiresAt),
        ]
    }

    /// The faults as in `oob-issuer faults list`, with no more of them than rows in the other lists.
    private var faultLines: [[String: String]] {
        let lines = SandboxReport.faults(faults).text.split(separator: "\n").map(String.init)
        let shown = lines.prefix(Self.rows).map { ["line": $0] }
        return lines.count > shown.count ? shown + [["line": "and \(lines.count - shown.count) more"]] : shown
    }

    private static func time(_ clock: JSONObject) -> String { SandboxReport.clock(clock).text }
}

/// The part of a transaction that a heading shows.
struct ShownTransaction: Sendable {
    let merchant: String
    let amount: String

    /// - Parameter story: the timeline of a purchase, or its short form.
    init(_ story: JSONObject) {
        let members = (try? story.object("transaction"))?.members ?? []
        let made = try? Transaction(
            members: members.map { TransactionMember(name: $0.name, value: Shown.plain($0.value)) })
        merchant = PageText.text(made?.merchantName)
        amount = made?.purchase?.display ?? "No payment"
    }
}
