import DurableFiles
import Foundation
import IssuerProtocol
import Keys
import Logging
import ScratchDirectories
import StoreTables
import TableRows
import TestStores
import Testing

@testable import Authenticator
@testable import Records
@testable import Signing

/// A database that is older than the noted head, or goes on otherwise, is not taken for the newest.
@Suite(.timeLimit(.minutes(20)))
struct OlderDatabaseTests: HeadTests {
    let sample: SampleAgent

    init() throws { sample = try SampleAgent(keepsHead: true) }

    @Test func `on an older database nothing is approved before the issuer has said its signCount`() async throws {
        let (_, request) = try await restored()
        let again = try sample.restarted()
        try await again.agent.prepare()
        await again.issuer.onStatus { (_) throws(IssuerError) in throw .down }
        #expect(try await failureCode { try await again.approve(request) } == .issuerUnreachable)
        // It is asked before each approval, not once a minute.
        #expect(try await failureCode { try await again.approve(request) } == .issuerUnreachable)
        #expect(await again.issuer.statusCalls == 2)
        try await again.decide(.deny(.userDenied), again.requests()[1].id)
        await again.issuer.onStatus { (_) throws(IssuerError) in 41 }
        try await again.approve(request)
        #expect(try await again.request(request).life.state == .approved)
    }

    @Test func `on an older database no PIN is tried`() async throws {
        try await sample.agent.prepare()
        let (card, request) = try await sample.enrolledWithPIN()
        try await sample.agent.conclude()
        let mark = try #require(try await sample.store.real.read { try $0.journalMark(.head) })
        try await run(try sample.restarted())
        try putBack(to: mark)
        let again = try sample.restarted()
        try await again.agent.prepare()
        #expect(try await failureCode { try await again.approve(request, pin: .right) } == .keyUnavailable)
        #expect(try await again.tries(of: card) == .fresh)
        #expect(try await again.request(request).life.state == .pending)
    }

    @Test func `an older database is restored, for as many starts as it takes until a person accepts it`() async throws
    {
        let (_, request) = try await restored()
        let noted = try bytes()
        for _ in 1...3 {
            let log = WrittenLog()
            let again = try sample.restarted(log: log.logger)
            try await again.agent.prepare()
            #expect(await causes(of: again) == [.restored])
            #expect(log.lines(.error) == ["the database is in doubt"])
            #expect(try await again.agent.troubles().contains { $0.hasPrefix("restored: ") })
            #expect(await again.agent.checkup.findings().contains { $0.weakness == .restored })
            try await again.agent.conclude()
            #expect(try bytes() == noted)
        }
        let accepting = try sample.restarted()
        #expect(try await accepting.agent.acceptHead()?.hasPrefix("restored: ") == true)
        let entry = try await accepting.newest(.headAccepted)
        #expect(entry.text("why") == "restored" && entry.number("noted") != nil)
        #expect(try await sample.enrollment(sample.request(request).enrollmentId).refusedSignCount == 0)
        #expect(try await notedPoint() == head(of: accepting))
        #expect(try await sample.restarted().agent.acceptHead() == nil)
        let after = try sample.restarted()
        try await after.agent.prepare()
        #expect(await causes(of: after).isEmpty)
    }

    @Test func `another history of the database is restored, also beyond the noted entry`() async throws {
        _ = try await restored()
        let noted = try #require(try notedPoint())
        // The agent that runs on it does not note what it writes.
        for _ in 1...4 { try await run(try sample.restarted()) }
        #expect(try #require(try await head(of: sample)).sequence > noted.sequence)
        let again = try sample.restarted()
        try await again.agent.prepare()
        #expect(await causes(of: again) == [.restored])
        #expect(try await again.agent.troubles().contains { $0.contains("has another entry \(noted.sequence)") })
        #expect(try notedPoint() == noted)
    }

    @Test func `a database that goes on for longer than a start reads is restored`() async throws {
        try await run(sample)
        let old = try bytes()
        let noted = try #require(try notedPoint()).sequence
        for _ in 1...3 { try await run(try sample.restarted()) }
        try DurableFile.write(old, to: path, replacing: true)
        let gap = try #require(try await head(of: sample)).sequence - noted
        for followed in [gap, gap - 1] {
            let again = try sample.restarted()
            var watch = again.agent.headWatch
            watch.followed = followed
            #expect(try await watch.begin() == nil)
            #expect(await causes(of: again) == (followed == gap ? [] : [.restored]))
        }
    }

    @Test func `on an older database every enrollment's issuer is asked, whichever host it is of`() async throws {
        let (card, _) = try await restored()
        let again = try sample.restarted()
        try await again.agent.prepare()
        #expect(try await again.enrollment(card.id).refusedSignCount == nil)
        try await again.running([again.agent.headWatch.run]) {
            while try await again.enrollment(card.id).refusedSignCount == nil { await Task.yield() }
        }
    }

    @Test func `an acceptance that was cut off anywhere is made again`() async throws {
        let (card, _) = try await restored()
        let noted = try bytes()
        // Before its entry.
        let first = try sample.restarted()
        #expect(try await first.agent.headWatch.begin() == nil)
        try await first.agent.headWatch.doubtSignCounts()
        try await sample.restarted().agent.prepare()
        #expect(try bytes() == noted)
        // Between its entry and its note.
        #expect(try await sample.restarted().agent.acceptHead() != nil)
        try DurableFile.write(noted, to: path, replacing: true)
        let again = try sample.restarted()
        try await again.agent.prepare()
        #expect(await causes(of: again) == [.restored])
        #expect(try await sample.restarted().agent.acceptHead()?.hasPrefix("restored: ") == true)
        #expect(try await sample.enrollment(card.id).refusedSignCount != nil)
        let after = try sample.restarted()
        try await after.agent.prepare()
        #expect(await causes(of: after).isEmpty)
    }

    @Test func `an acceptance that cannot be noted fails, and is made again`() async throws {
        _ = try await restored()
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        await #expect(throws: FileError.self) { _ = try await sample.restarted().agent.acceptHead() }
        try FileManager.default.removeItem(atPath: path)
        #expect(try await sample.restarted().agent.acceptHead()?.hasPrefix("headMissing: ") == true)
        #expect(try await notedPoint() == head(of: sample))
    }

    @Test(arguments: [false, true])
    func `nothing else opens a key by a PIN, or signs, while the database is in doubt`(isMissing: Bool) async throws {
        try await sample.agent.prepare()
        let (card, request) = try await sample.enrolledWithPIN()
        try await sample.agent.conclude()
        if isMissing {
            try DurableFile.remove(path)
        } else {
            let mark = try #require(try await sample.store.real.read { try $0.journalMark(.head) })
            try await run(try sample.restarted())
            try putBack(to: mark)
        }
        let again = try sample.restarted()
        try await again.agent.prepare()
        let code = try await failureCode { try await again.agent.changePIN(of: card.id, from: .right, to: .wrong) }
        #expect(code == .keyUnavailable)
        #expect(try await again.tries(of: card) == .fresh)
        #if Personas
        guard isMissing else { return }
        let record = try await again.request(request)
        #expect(
            try await failureCode { _ = try await again.agent.undecidedApproval(of: record, by: NoAnswer()) }
                == .keyUnavailable)
        #endif
    }

    #if PostgreSQL
    @Test func `each host has a head of its own, and asks for all once it has noticed`() async throws {
        let alpha = try StoreKind.$current.withValue(.postgres) { try SampleAgent(keepsHead: true) }
        func started(_ name: String) async throws -> SampleAgent {
            let host = try StoreKind.$current.withValue(.postgres) { try alpha.neighbour(name) }
            try await host.agent.prepare()
            return host
        }
        try await alpha.agent.prepare()
        let card = try await alpha.enrolled()
        try await alpha.receive(.numbered(1), for: card)
        try await alpha.agent.conclude()
        try await started("beta").agent.conclude()
        let mark = try #require(try await alpha.store.real.read { try $0.journalMark(.head) })
        try await started("alpha").agent.conclude()
        try StoreKind.$current.withValue(.postgres) {
            try alpha.tamper("DELETE FROM journal WHERE host = 'alpha' AND seq > ?", [mark.point.sequence])
            try alpha.tamper(
                "UPDATE journal_mark SET seq = ?, digest = ?, signature = ?, rows = ? WHERE host = 'alpha' AND name = 'head'",
                [mark.point.sequence, mark.point.digest, mark.signature, mark.rows])
        }
        // It lost nothing of its own.
        let beta = try await started("beta")
        #expect(await causes(of: beta).isEmpty)
        let again = try await started("alpha")
        #expect(await causes(of: again) == [.restored])
        try await again.running([again.agent.headWatch.run]) {
            while try await again.enrollment(card.id).refusedSignCount == nil { await Task.yield() }
        }
        await beta.issuer.onStatus { (_) throws(IssuerError) in throw .down }
        let request = try await beta.requests()[0].id
        #expect(try await failureCode { try await beta.approve(request) } == .issuerUnreachable)
    }
    #endif

    @Test func `after a missing head was accepted the issuer is asked before the next approval`() async throws {
        let (card, request) = try await restored()
        try DurableFile.remove(path)
        #expect(try await sample.restarted().agent.acceptHead()?.hasPrefix("headMissing: ") == true)
        #expect(try await sample.enrollment(card.id).refusedSignCount != nil)
        let after = try sample.restarted()
        try await after.agent.prepare()
        await after.issuer.onStatus { (_) throws(IssuerError) in throw .down }
        #expect(try await failureCode { try await after.approve(request) } == .issuerUnreachable)
    }

    @Test func `a database from before this host wrote to it is taken only by a person`() async throws {
        try await run(sample)
        let noted = try #require(try notedPoint())
        for table in ["journal", "journal_mark", "audit_key", "journal_checkpoint"] {
            try sample.tamper("DELETE FROM \(table)")
        }
        let again = try sample.restarted()
        let failure = await #expect(throws: ForeignHeadError.self) { try await again.agent.prepare() }
        #expect(failure?.description.contains("oob-agent --accept-head") == true)
        #expect(try await sample.restarted().agent.acceptHead()?.hasPrefix("restored: ") == true)
        #expect(try await sample.newest(.headAccepted).number("noted") == noted.sequence)
        let after = try sample.restarted()
        try await after.agent.prepare()
        #expect(await causes(of: after).isEmpty)
        #expect(try await notedPoint() == head(of: after))
    }
}

#if Personas
private struct NoAnswer: TestAnswer {
    func body(of approval: TestApproval) async throws -> [UInt8] { [] }
}
#endif
