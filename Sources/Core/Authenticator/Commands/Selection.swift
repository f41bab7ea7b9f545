import IssuerProtocol
import Journal
import Records
import StoreTables
import TextAndTime
import ThreeDS

/// How a command names a request.
package enum RequestSelector: Sendable, Equatable {
    /// The pending one that came first.
    case next
    /// The request's id, its jti, its acsTransId, or a unique prefix of one.
    case named(String)

    /// Reads what a person or script wrote; nil for an empty name or one that no request can have.
    package init?(_ text: String) {
        guard TokenID(text) != nil else { return nil }
        self = text == "next" ? .next : .named(text)
    }

    /// What may bring the request that is waited for, so that nobody looks for it after anything else.
    func expected(of enrollment: EnrollmentID?) -> @Sendable (AgentEvent) -> Bool {
        switch self {
        case .next:
            return { event in
                event.kind?.mayBringPending == true && (enrollment == nil || event.enrollment == enrollment)
            }
        case .named(let name):
            let transaction = name.lowercased()
            return { event in
                guard case .requestReceived(let names, let id) = event, enrollment == nil || id == enrollment else {
                    return false
                }
                // As `Selection` finds one that is waited for.
                return names.jti == name || names.id.text.hasPrefix(name)
                    || names.acsTransId?.hasPrefix(transaction) == true
            }
        }
    }
}

/// Finds the request that a selector means.
enum Selection {
    /// The id of the request; nil if there is none (yet).
    ///
    /// - Parameter isWaitedFor: whether it may be still to come; then what its issuer named it counts as a whole only,
    ///   so that another one whose `jti` begins the same is not taken.
    /// - Throws: `CommandError` with `.ambiguous` if a name stands for several.
    static func find(
        _ selector: RequestSelector, enrollment: EnrollmentID?, isWaitedFor: Bool, in store: StoreReading
    ) throws -> RequestID? {
        guard case .named(let name) = selector else { return try next(of: enrollment, in: store)?.id }
        // A script mostly gives a whole name, which is found faster.
        let whole = try store.requests(named: name, enrollment: enrollment, limit: limit)
        let candidates =
            try !whole.isEmpty
            ? whole
            : store.requests(prefix: name, enrollment: enrollment, limit: limit).filter {
                !isWaitedFor || $0.hasAgentsNameOrTransaction(beginning: name)
            }
        guard candidates.count > 1 else { return candidates.first?.id }
        // A whole acsTransId that stands for several of one enrollment means the pending one. What others than its issuer
        // named so never takes its place.
        let pending = candidates.filter(\.isPending)
        let areOneTransaction = candidates.allSatisfy {
            $0.acsTransId == name.lowercased() && $0.enrollmentId == candidates[0].enrollmentId
        }
        if areOneTransaction, pending.count == 1 { return pending.first?.id }
        throw CommandError(.ambiguous, "\(name) matches several requests: \(try listed(candidates, in: store))")
    }

    /// The oldest one that can be decided: a damaged one never is.
    private static func next(of enrollment: EnrollmentID?, in store: StoreReading) throws -> RequestRecord? {
        let oldest = try store.oldestPending(enrollment: enrollment)
        guard oldest?.isDamaged == true else { return oldest }
        return try store.requests(pendingOnly: true, enrollment: enrollment, limit: mostLookedAt)
            .first { !$0.isDamaged }
    }

    /// The most pending requests among which one is looked for that is not damaged.
    private static let mostLookedAt = 1_000

    /// More are not looked at: two are too many.
    private static let limit = 20

    private static func listed(_ requests: [NamedRequest], in store: StoreReading) throws -> String {
        let shown = try requests.prefix(5).map { named in
            let presented = try store.request(named.id)?.presented
            let merchant = presented.map { " (\(DisplayText($0.transaction.merchantName).text))" } ?? ""
            return named.id.text + merchant
        }
        return shown.joined(separator: ", ") + (requests.count > shown.count ? " and more" : "")
    }
}
