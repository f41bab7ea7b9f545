import Journal
package import Records
import StoreTables

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
        _ value: @escaping @Sendable (RequestID, StoreReading) throws -> Value?
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
