import Authenticator
import GRDB
import IssuerProtocol
import Records
import StoreTables
import TestStores
import Testing

@testable import SQLiteStore

/// What became of many requests, counted in the database.
struct FleetFiguresTests {
    private static let approved = RequestLife(state: .approved, delivery: .delivered(.authenticated))

    private func tally(latency: Int64?, count: Int) -> RequestTally {
        RequestTally(
            script: nil, state: "approved", delivery: "delivered", transStatus: "Y", latency: latency, count: count)
    }

    @Test func `a percentile is the least time within which so many percent were decided`() {
        var figures = FleetFigures()
        #expect(figures.latencies(at: [50]) == nil)
        figures.add(tally(latency: nil, count: 7))
        #expect(figures.latencies(at: [50]) == nil)
        figures.add(tally(latency: 3, count: 1))
        #expect(figures.latencies(at: [50, 90, 99, 100]) == [3, 3, 3, 3])
        figures.add(tally(latency: 0, count: 89))
        figures.add(tally(latency: 10, count: 9))
        figures.add(tally(latency: 1_000_000, count: 1))
        // 100 in all: 89 at once, one after 3 s, nine after 10 s, one after longer than is told apart.
        #expect(figures.latencies(at: [0, 50, 89, 90, 91, 99, 100]) == [0, 0, 0, 3, 10, 10, 86_400])
        #expect(figures.requests == 107)
        #expect(figures.transStatuses == ["Y": 107])
    }

    @Test func `a clock that went backwards makes no time below zero`() {
        var figures = FleetFigures()
        figures.add(tally(latency: -5, count: 1))
        #expect(figures.latencies(at: [50]) == [0])
    }

    private func tallies(
        _ sample: SampleStore, since time: Int64 = 0, most: Int = 1_000, page: Int
    ) async throws -> (tallies: [RequestTally], isCut: Bool) {
        try await sample.store.read { store in
            let first = try store.firstRequest(since: time, sparing: most)
            var (all, place) = ([] as [RequestTally], Optional(first.place))
            while let after = place {
                let found = try store.requestTallies(after: after, since: time, limit: page)
                all += found.tallies
                place = found.place
            }
            return (all, first.isCut)
        }
    }

    private func sample() async throws -> SampleStore {
        let sample = try SampleStore()
        let card = try await sample.enrollment()
        for number in 1...5 {
            var request = try SampleStore.request(number, of: card, life: Self.approved)
            request.decidedAt = 7 + Int64(number % 2)
            try await sample.insert(request)
        }
        try await sample.insert(try SampleStore.request(6, of: card))
        return sample
    }

    private func counts(_ tallies: [RequestTally]) -> [String: Int] {
        Dictionary(tallies.map { ("\($0.state) \($0.latency.map(String.init) ?? "-")", $0.count) }, uniquingKeysWith: +)
    }

    @Test(arguments: [1, 2, 100]) func `all are counted once, however many a page has`(page: Int) async throws {
        let (tallies, isCut) = try await tallies(try await sample(), page: page)
        #expect(counts(tallies) == ["approved 0": 2, "approved 1": 3, "pending -": 1])
        #expect(!isCut)
    }

    @Test func `of more than the bound the newest are counted, and that is said`() async throws {
        let (tallies, isCut) = try await tallies(try await sample(), most: 2, page: 100)
        #expect(counts(tallies) == ["approved 1": 1, "pending -": 1])
        #expect(isCut)
    }

    @Test func `those that came before the time do not count`() async throws {
        let (tallies, isCut) = try await tallies(try await sample(), since: 8, most: 2, page: 100)
        #expect(tallies.isEmpty)
        #expect(!isCut)
    }

    @Test func `what was to answer a request is counted with it`() async throws {
        let sample = try await sample()
        try await sample.store.write { store in
            guard let id = RequestID(SampleStore.digits(6)) else { throw SampleError("no id") }
            try store.setScript("{}", rule: nil, of: id)
        }
        let tallies = try await tallies(sample, page: 100).tallies
        #expect(tallies.filter { $0.script == "{}" }.map(\.state) == ["pending"])
    }
}
