import IssuerProtocol
import TestStores
import Testing

/// The agent's core against a model of what the issuer protocol promises.
@Suite struct ModelTests {
    @Test func `random schedules end as the model says`() async throws {
        let failure = try await Campaign.asked.firstFailure()
        #expect(failure == nil, "\(failure.map(\.description) ?? "")")
    }

    #if PostgreSQL
    @Test func `random schedules of two hosts on one database end as the model says`() async throws {
        var campaign = Campaign.asked
        campaign.hosts = 2
        let failure = try await StoreKind.$current.withValue(.postgres) { try await campaign.firstFailure() }
        #expect(failure == nil, "\(failure.map(\.description) ?? "")")
    }
    #endif

    @Test(arguments: Pinned.schedules)
    func `a schedule that once told right from wrong ends as the model says`(schedule: [Step]) async throws {
        let finding = try await Rehearsal.run(schedule, at: SampleIssuer(cards: Generator.cards))
        #expect(finding == nil)
    }

    @Test func `the same seed gives the same schedule, another seed another`() {
        #expect(Generator.schedule(seed: 7) == Generator.schedule(seed: 7))
        #expect(Generator.schedule(seed: 7) != Generator.schedule(seed: 8))
    }

    @Test func `a schedule that fails is made as small as it gets`() async throws {
        let culprit = PlannedRequest(jti: 3, acs: 2)
        let padding = Generator.schedule(seed: 1, steps: 20)
        let schedule =
            padding + [.list(0, [.request(PlannedRequest(jti: 1)), .request(culprit)]), .pass(60)] + padding
            + [.approve(1, jti: 3, meanwhile: [.tick, .restart], crash: .signing)] + padding
        let shrinker = Shrinker { candidate in
            candidate.contains {
                if case .list(_, let messages, _) = $0 { messages.contains(.request(culprit)) } else { false }
            }
                && candidate.contains { if case .approve(1, jti: 3, _, _) = $0 { true } else { false } }
        }
        let smallest = try await shrinker.smallest(schedule)
        #expect(smallest == [.list(0, [.request(culprit)]), .approve(1, jti: 3)])
    }

    @Test func `a schedule is written as Swift`() {
        let schedule: [Step] = [
            .list(
                0,
                [.request(PlannedRequest(jti: 1, flaw: .jti)), .cancellation(PlannedCancellation(jti: 2, cancels: 1))]),
            .approve(1, jti: 3, meanwhile: [.tick], crash: .afterCommit),
            .deliver(0, .denials, .code(.alreadyDecided)), .deliver(0, .approvals, .cut(hadEffect: true)),
        ]
        #expect(
            schedule.map(\.description) == [
                ".list(0, [.request(PlannedRequest(jti: 1, flaw: .jti)), "
                    + ".cancellation(PlannedCancellation(jti: 2, cancels: 1))])",
                ".approve(1, jti: 3, meanwhile: [.tick], crash: .afterCommit)",
                ".deliver(0, .denials, .code(.alreadyDecided))", ".deliver(0, .approvals, .cut(hadEffect: true))",
            ])
    }
}
