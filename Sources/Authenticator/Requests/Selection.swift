import IssuerProtocol
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

/// A request and its enrollment, as one look into the store found them.
package struct FoundRequest: Sendable {
    package let request: RequestRecord
    package let enrollment: Enrollment?
}

extension FoundRequest {
    /// Reads a request with its enrollment; nil if it is not there.
    static func read(_ id: RequestID, in store: any StoreReader) throws -> FoundRequest? {
        try store.request(id).map { FoundRequest(request: $0, enrollment: try store.enrollment($0.enrollmentId)) }
    }

    /// Returns the requests that are there, by their ids.
    static func all(_ ids: Set<RequestID>, in store: any StoreReader) throws -> [RequestID: FoundRequest] {
        // Many requests are of few enrollments.
        var enrollments: [EnrollmentID: Enrollment?] = [:]
        var found: [RequestID: FoundRequest] = [:]
        for id in ids {
            guard let request = try store.request(id) else { continue }
            let known = enrollments[request.enrollmentId]
            let enrollment = if let known { known } else { try store.enrollment(request.enrollmentId) }
            enrollments[request.enrollmentId] = .some(enrollment)
            found[id] = FoundRequest(request: request, enrollment: enrollment)
        }
        return found
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
        _ selector: RequestSelector, enrollment: EnrollmentID?, isWaitedFor: Bool, in store: any StoreReader
    ) throws -> RequestID? {
        guard case .named(let name) = selector else { return try store.oldestPending(enrollment: enrollment)?.id }
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

    /// More are not looked at: two are too many.
    private static let limit = 20

    private static func listed(_ requests: [NamedRequest], in store: any StoreReader) throws -> String {
        let shown = try requests.prefix(5).map { named in
            let presented = try store.request(named.id)?.presented
            let merchant = presented.map { " (\(DisplayText($0.transaction.merchantName).text))" } ?? ""
            return named.id.text + merchant
        }
        return shown.joined(separator: ", ") + (requests.count > shown.count ? " and more" : "")
    }
}

extension NamedRequest {
    /// Both have one form, so what is shorter is a part of one.
    fileprivate func hasAgentsNameOrTransaction(beginning name: String) -> Bool {
        id.text.hasPrefix(name) || acsTransId?.hasPrefix(name.lowercased()) == true
    }
}

extension Agent {
    /// The request that a selector means, if it is there: as one that may be waited for is found.
    ///
    /// - Throws: `CommandError` `.ambiguous`.
    package func idNow(of selector: RequestSelector, enrollment: EnrollmentID?) async throws -> RequestID? {
        try await ports.store.read {
            try Selection.find(selector, enrollment: enrollment, isWaitedFor: true, in: $0)
        }
    }

    /// The request that a selector means; one that is not there yet is waited for, up to `wait` seconds.
    ///
    /// - Throws: `CommandError` `.notFound`, `.noRequest` or `.ambiguous`.
    package func request(
        _ selector: RequestSelector, enrollment: EnrollmentID?, wait: Double
    ) async throws -> RequestRecord {
        try await found(selector, enrollment: enrollment, wait: wait).request
    }

    /// The same, with the request's enrollment.
    package func found(
        _ selector: RequestSelector, enrollment: EnrollmentID?, wait: Double
    ) async throws -> FoundRequest {
        try await matching(selector, enrollment: enrollment, wait: wait) { id, store in
            try FoundRequest.read(id, in: store)
        }
    }

    /// The same, its id alone: its message is not read.
    package func id(of selector: RequestSelector, enrollment: EnrollmentID?, wait: Double) async throws -> RequestID {
        try await matching(selector, enrollment: enrollment, wait: wait) { id, _ in id }
    }

    /// - Parameter value: reads what is wanted of the request, in the same look.
    private func matching<Value: Sendable>(
        _ selector: RequestSelector, enrollment: EnrollmentID?, wait: Double,
        _ value: @escaping @Sendable (RequestID, any StoreReader) throws -> Value?
    ) async throws -> Value {
        // A fetch that rests after a failure goes on now.
        if wait > 0 { hub.publish(.requestsWanted) }
        let found = try await hub.wait(seconds: wait, on: ports.patience, for: selector.expected(of: enrollment)) {
            try await self.ports.store.read { store in
                try Selection.find(selector, enrollment: enrollment, isWaitedFor: wait > 0, in: store)
                    .flatMap { try value($0, store) }
            }
        }
        if let found { return found }
        switch selector {
        case .named(let name) where wait == 0: throw CommandError(.notFound, "there is no request \(name)")
        case .named(let name): throw CommandError(.noRequest, "the request \(name) did not come in \(Int(wait)) s")
        case .next where wait == 0: throw CommandError(.noRequest, "no request is pending")
        case .next: throw CommandError(.noRequest, "no request came in \(Int(wait)) s")
        }
    }
}
