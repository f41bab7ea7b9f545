import Journal
package import Records
import StoreTables

extension Agent {
    /// Returns the id of the request that a selector means, or `nil` if the request has not arrived.
    ///
    /// Matches names by the stricter rules for a request that may still arrive (``Selection``).
    ///
    /// - Throws: `CommandError` `.ambiguous`.
    package func idNow(of selector: RequestSelector, enrollment: EnrollmentID?) async throws -> RequestID? {
        try await ports.store.read {
            try Selection.find(selector, enrollment: enrollment, isWaitedFor: true, in: $0)
        }
    }

    /// Finds the request that a selector means, and waits up to `wait` seconds until it arrives.
    ///
    /// - Throws: `CommandError` `.notFound`, `.noRequest` or `.ambiguous`.
    package func request(
        _ selector: RequestSelector, enrollment: EnrollmentID?, wait: Double
    ) async throws -> RequestRecord {
        try await found(selector, enrollment: enrollment, wait: wait).request
    }

    /// Finds a request as ``request(_:enrollment:wait:)`` does, and reads its enrollment too.
    package func found(
        _ selector: RequestSelector, enrollment: EnrollmentID?, wait: Double
    ) async throws -> FoundRequest {
        try await matching(selector, enrollment: enrollment, wait: wait) { id, store in
            try FoundRequest.read(id, in: store)
        }
    }

    /// Finds a request as ``request(_:enrollment:wait:)`` does, but reads only its id, not its message.
    package func id(of selector: RequestSelector, enrollment: EnrollmentID?, wait: Double) async throws -> RequestID {
        try await matching(selector, enrollment: enrollment, wait: wait) { id, _ in id }
    }

    /// - Parameter value: reads the result from the request, in the same read of the store.
    private func matching<Value: Sendable>(
        _ selector: RequestSelector, enrollment: EnrollmentID?, wait: Double,
        _ value: @escaping @Sendable (RequestID, StoreReading) throws -> Value?
    ) async throws -> Value {
        // A fetch that pauses after a failure goes on now.
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
