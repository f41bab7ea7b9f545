import Control

/// The page's access to the agent.
struct InboxAgent: Sendable {
    /// The number of requests fetched at once while filtering.
    private static let batch = 250
    /// The limit of requests that one page of a search examines; the next page continues the search.
    private static let mostSearched = 2_000

    let client: @Sendable () throws(ClientError) -> ControlClient

    /// Returns one page of the list, the newest first, and the request after which the next page starts.
    func list(_ query: ListQuery) async throws(ClientError) -> (rows: [RequestView], next: String?) {
        let client = try client()
        var rows: [RequestView] = []
        var (before, searched, bytes) = (query.before, 0, 0)
        var first: RequestView?
        if before == nil {
            // The agent lists pending requests with the oldest first, so the newest one is found in the list of all.
            first = try await client.requests(RequestListing(all: true, limit: 1)).requests.last
            guard let first else { return ([], nil) }
            if query.takes(first) { rows.append(first) }
            before = first.id
        }
        let batch = query.text.isEmpty ? ListQuery.maxRows + 1 : Self.batch
        while searched < Self.mostSearched {
            let page = try await client.requests(RequestListing(all: query.all, limit: batch, before: before))
            for request in page.requests.reversed() {
                if query.takes(request) {
                    bytes += query.bytes(of: request)
                    guard rows.count < ListQuery.maxRows, bytes <= ListQuery.maxBytes else { return (rows, before) }
                    rows.append(request)
                }
                before = request.id
            }
            guard page.hasNext, !page.requests.isEmpty else { return (rows, nil) }
            searched += page.requests.count
        }
        return (rows, before)
    }

    func request(_ id: String) async throws(ClientError) -> RequestView {
        try await client().request(id: id, enrollment: nil)
    }

    func evidence(of id: String) async throws(ClientError) -> EvidenceView {
        try await client().evidence(id: id, enrollment: nil)
    }

    /// Returns the settings that a tester can change for a request.
    func bench(of request: RequestView) async throws(ClientError) -> TestBench {
        var personas = PersonasView(known: [], set: [])
        do throws(ClientError) {
            personas = try await client().personas()
        } catch {
            // An agent that was built without personas does not have this call.
            guard case .refused(let refusal) = error, refusal.token == .notFound else { throw error }
        }
        return TestBench(
            personas: personas.known, persona: personas.set.first { $0.enrollment == request.enrollmentId }?.persona,
            isReplayable: SandboxCalls.mayBeSandbox(request.issuer))
    }

    func decide(
        _ decision: Decision, _ id: String, with command: DecideCommand
    ) async throws(ClientError) -> RequestView {
        let selector: RequestSelector
        do throws(ControlError) { selector = try RequestSelector(id: id) } catch { throw .refused(error) }
        return try await client().decide(decision, on: selector, with: command)
    }
}
