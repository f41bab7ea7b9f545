import IssuerProtocol
import Journal
import Records
import StoreTables
import TextAndTime
import ThreeDS

/// The name of a request in a command.
package enum RequestSelector: Sendable, Equatable {
    /// The pending request that came first.
    case next
    /// The request's id, its jti, its acsTransId, or a unique prefix of one.
    case named(String)

    /// Parses the name that a person or script wrote.
    ///
    /// `nil` for an empty name, or a name that no request can have.
    package init?(_ text: String) {
        guard TokenID(text) != nil else { return nil }
        self = text == "next" ? .next : .named(text)
    }

    /// Returns the filter of the events that may bring the request, so that a wait reads the store only after these.
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
                // The same rules as in `Selection` for a request that is waited for.
                return names.jti == name || names.id.text.hasPrefix(name)
                    || names.acsTransId?.hasPrefix(transaction) == true
            }
        }
    }
}

/// Finds the request that a selector means.
enum Selection {
    /// Returns the id of the request, or `nil` if there is none yet.
    ///
    /// - Parameter isWaitedFor: whether the request may still arrive. Then the name that its issuer gave it must match
    ///   as a whole, so that another request whose `jti` begins with the name is not chosen.
    /// - Throws: `CommandError` `.ambiguous` if the name matches several requests.
    static func find(
        _ selector: RequestSelector, enrollment: EnrollmentID?, isWaitedFor: Bool, in store: StoreReading
    ) throws -> RequestID? {
        guard case .named(let name) = selector else { return try next(of: enrollment, in: store)?.id }
        // A script mostly gives a whole name, which is found faster than a prefix.
        let whole = try store.requests(named: name, enrollment: enrollment, limit: limit)
        let candidates =
            try !whole.isEmpty
            ? whole
            : store.requests(prefix: name, enrollment: enrollment, limit: limit).filter {
                !isWaitedFor || $0.hasAgentsNameOrTransaction(beginning: name)
            }
        guard candidates.count > 1 else { return candidates.first?.id }
        // A whole acsTransId that several requests of one enrollment have means the pending one. A request to which
        // another issuer gave this name is never chosen in its place.
        let pending = candidates.filter(\.isPending)
        let areOneTransaction = candidates.allSatisfy {
            $0.acsTransId == name.lowercased() && $0.enrollmentId == candidates[0].enrollmentId
        }
        if areOneTransaction, pending.count == 1 { return pending.first?.id }
        throw CommandError(.ambiguous, "\(name) matches several requests: \(try listed(candidates, in: store))")
    }

    /// Returns the oldest request that can be decided; a damaged request cannot.
    private static func next(of enrollment: EnrollmentID?, in store: StoreReading) throws -> RequestRecord? {
        let oldest = try store.oldestPending(enrollment: enrollment)
        guard oldest?.isDamaged == true else { return oldest }
        return try store.requests(pendingOnly: true, enrollment: enrollment, limit: mostLookedAt)
            .first { !$0.isDamaged }
    }

    /// The limit for pending requests that are searched if the oldest is damaged.
    private static let mostLookedAt = 1_000

    /// The limit for matches that are read; two already make a name ambiguous.
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
