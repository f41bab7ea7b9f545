import AgentHost
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
@testable import Journal
@testable import Records

/// An older database in the place of the newest is noticed at start: each host notes its head beside it.
@Suite(.timeLimit(.minutes(20)))
struct HeadFileTests: HeadTests {
    let sample: SampleAgent

    init() throws { sample = try SampleAgent(keepsHead: true) }

    @Test func `the first start notes the head, and so does each stop`() async throws {
        try await sample.agent.prepare()
        #expect(try await notedPoint() == head(of: sample))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        try await sample.agent.conclude()
        #expect(try await notedPoint() == head(of: sample))
        let again = try sample.restarted()
        try await again.agent.prepare()
        #expect(await causes(of: again).isEmpty)
        #expect(try await notedPoint() == head(of: again))
        #expect(try await sample.journal().map(\.kind) == [.auditKeyMade, .started, .stopped, .started])
    }

    @Test func `a start that was cut off before its head was noted has none to miss`() async throws {
        try await sample.agent.prepare()
        try DurableFile.write(HeadNote.accepted.bytes, to: path, replacing: true)
        let again = try sample.restarted()
        try await again.agent.prepare()
        #expect(await causes(of: again).isEmpty)
        #expect(try await again.newest(.headAccepted).text("why") == "marked")
        #expect(try await notedPoint() == head(of: again))
        // It is taken once.
        try await run(try sample.restarted())
        #expect(try await sample.journal().filter { $0.kind == .headAccepted }.count == 1)
    }

    @Test func `without its file nothing is approved until a person accepts the head`() async throws {
        try await sample.agent.prepare()
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        try await sample.agent.conclude()
        try DurableFile.remove(path)
        let again = try sample.restarted()
        try await again.agent.prepare()
        #expect(await causes(of: again) == [.headMissing])
        #expect(try await again.agent.troubles().contains { $0.hasPrefix("headMissing: there is no \(path)") })
        #expect(await again.agent.checkup.findings().contains { $0.weakness == .headMissing })
        let requests = try await again.requests().map(\.id)
        #expect(try await failureCode { try await again.approve(requests[0]) } == .keyUnavailable)
        try await again.decide(.deny(.userDenied), requests[1])
        try await again.agent.conclude()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try await sample.restarted().agent.acceptHead()?.hasPrefix("headMissing: ") == true)
        #expect(try await sample.newest(.headAccepted).text("why") == "headMissing")
        let after = try sample.restarted()
        try await after.agent.prepare()
        try await after.approve(requests[0])
    }

    @Test func `a file that is not as the agent wrote it is a missing one, and stays as it is`() async throws {
        try await run(sample)
        let whole = try bytes()
        var changed = whole
        // The first digit of the digest: the signature is of another one.
        let digit = try #require(whole.split(separator: 10)[2].indices.first)
        changed[digit] = whole[digit] == 48 ? 49 : 48
        let long = [UInt8](repeating: 65, count: 900)
        for bytes in [[], Array(whole.dropLast(9)), Array("x".utf8), whole + [10], [10] + whole, changed, long] {
            try DurableFile.write(bytes, to: path, replacing: true)
            let again = try sample.restarted()
            try await run(again)
            #expect(await causes(of: again) == [.headMissing], "\(bytes.count)")
            #expect(try self.bytes() == bytes)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let open = try sample.restarted()
        try await open.agent.prepare()
        #expect(await causes(of: open) == [.headMissing])
    }

    @Test func `another agent's file stops the start, and nothing is written`() async throws {
        let other = try SampleAgent(keepsHead: true)
        try await run(other)
        try await run(sample)
        let entries = try await sample.journal().count
        let foreign = try DurableFile.read(try #require(other.headFile).path, maxBytes: 999)
        try DurableFile.write(foreign, to: path, replacing: true)
        for _ in 1...2 {
            let again = try sample.restarted()
            await #expect(throws: ForeignHeadError.self) { try await again.agent.prepare() }
            await #expect(throws: ForeignHeadError.self) { try await again.agent.acceptHead() }
        }
        #expect(try bytes() == foreign)
        #expect(try await sample.journal().count == entries)
        let empty = try SampleAgent(keepsHead: true)
        try DurableFile.write(foreign, to: try #require(empty.headFile).path, replacing: true)
        await #expect(throws: ForeignHeadError.self) { try await empty.agent.prepare() }
        #expect(try await empty.journal().isEmpty)
    }

    @Test func `a head that is older than the journal is kept is taken`() async throws {
        let log = WrittenLog()
        try await run(sample)
        let old = try bytes()
        for _ in 1...3 { try await run(try sample.restarted()) }
        try DurableFile.write(old, to: path, replacing: true)
        sample.clock.advance(by: Double(sample.settings.auditRetention) + 100)
        let pruning = try sample.restarted()
        // Also one that is behind, which those entries lead on from.
        try await pruning.agent.prepare()
        #expect(await causes(of: pruning).isEmpty)
        while try await pruning.agent.journalPruner.step() {}
        try DurableFile.write(old, to: path, replacing: true)
        let again = try sample.restarted(log: log.logger)
        try await again.agent.prepare()
        #expect(await causes(of: again).isEmpty)
        #expect(log.lines(.notice).contains("the noted head is older than the journal is kept"))
    }

    @Test func `an entry that was taken out behind the noted one is a forged journal`() async throws {
        try await run(sample)
        let old = try bytes()
        for _ in 1...2 { try await run(try sample.restarted()) }
        try DurableFile.write(old, to: path, replacing: true)
        try sample.tamper("DELETE FROM journal WHERE seq = 5")
        let again = try sample.restarted()
        try await again.agent.prepare()
        #expect(again.storeError?.kind == .forged)
        #expect(try bytes() == old)
    }

    @Test func `the noted entry in another history is a forged journal, however long that is`() async throws {
        try await run(sample)
        let mark = try #require(try await sample.store.real.read { try $0.journalMark(.head) })
        try await run(try sample.restarted())
        let noted = try #require(try notedPoint())
        let rows = try await sample.store.real.read { try $0.journal(after: noted.sequence - 1, limit: 1) }
        try putBack(to: mark)
        let other = try sample.restarted()
        try await other.agent.prepare()
        // More than every start reads.
        try await other.agent.ports.store.write { store in
            for _ in 1...1_200 { try store.record(.stopped, at: 1) }
        }
        let entry = String(decoding: try #require(rows.first).bytes, as: UTF8.self)
        try sample.tamper("UPDATE journal SET entry = ? WHERE seq = ?", [entry, noted.sequence])
        let again = try sample.restarted()
        try await again.agent.prepare()
        #expect(again.storeError?.kind == .forged)
        #expect(try notedPoint() == noted)
    }

    @Test func `a directory that cannot be written to is said, and the agent goes on`() async throws {
        try await run(sample)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let log = WrittenLog()
        let broken = try sample.restarted(log: log.logger)
        try await broken.agent.prepare()
        // It is in doubt: nothing is noted, and so nothing fails.
        #expect(await causes(of: broken) == [.headMissing])
        broken.ports.headStanding.set(nil)
        await broken.agent.headWatch.save()
        await broken.agent.headWatch.save()
        #expect(log.lines(.warning).filter { $0 == "the head could not be noted" }.count == 1)
        #expect(await broken.agent.checkup.findings().contains { $0.weakness == .headNotKept })
        try FileManager.default.removeItem(atPath: path)
        await broken.agent.headWatch.save()
        #expect(await !broken.agent.checkup.findings().contains { $0.weakness == .headNotKept })
        #expect(try await notedPoint() == head(of: broken))
    }

    @Test func `ten seconds after a commit the head is noted`() async throws {
        try await sample.agent.prepare()
        let (card, before) = (try await sample.enrolled(), try notedPoint())
        try await sample.running([sample.agent.headWatch.run]) {
            try await sample.receive(.numbered(1), for: card)
            while try await sample.clock.naps.next() != HeadWatch.pause {}
            #expect(try notedPoint() == before)
            let written = try #require(try await head(of: sample))
            sample.clock.advance(by: HeadWatch.pause)
            // It waits for the next commit once it has written.
            while try notedPoint() != written { await Task.yield() }
        }
    }
}
