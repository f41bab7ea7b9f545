import IssuerProtocol

@testable import Authenticator
@testable import Records

/// Tests of fetches that a test answers one by one.
protocol FetchSuite {
    var sample: SampleAgent { get }
    var answers: Channel<Result<RequestList, IssuerError>> { get }
}

extension FetchSuite {
    /// Fetches while `body` runs.
    func fetching(while body: () async throws -> Void) async throws {
        await sample.issuer.onFetch { [answers] (_) throws(IssuerError) in try await answers.answer().get() }
        try await sample.running([sample.agent.fetcher.run], while: body)
    }

    func list(_ requests: [String] = [], cursor: String) -> Result<RequestList, IssuerError> {
        .success(RequestList(requests: requests, cursor: cursor))
    }
}
