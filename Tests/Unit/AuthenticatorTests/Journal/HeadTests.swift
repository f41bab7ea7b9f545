import DurableFiles
import Foundation
import IssuerProtocol
import Keys
import ScratchDirectories
import StoreTables
import TableRows
import TestStores
import Testing

@testable import Authenticator
@testable import Records

/// What tests of the noted head have in common.
protocol HeadTests {
    var sample: SampleAgent { get }
}

extension HeadTests {
    var path: String { "\(sample.directory.path)/head-of-alpha" }

    func note() throws -> HeadNote? { HeadNote(try bytes()) }

    func bytes() throws -> [UInt8] { try DurableFile.read(path, maxBytes: 1_000) }

    func head(of agent: SampleAgent) async throws -> JournalPoint? {
        try await agent.store.real.read { try $0.journalMark(.head) }?.point
    }

    func notedPoint() throws -> JournalPoint? {
        guard case .head(let mark, _)? = try note() else { return nil }
        return mark.point
    }

    /// A whole run of an agent: a start and a stop.
    func run(_ agent: SampleAgent) async throws {
        try await agent.agent.prepare()
        try await agent.agent.conclude()
    }

    /// Puts the chain back to where it was, as a restore of an older database does.
    ///
    /// Time passes: what is written from here on is another history.
    func putBack(to mark: JournalMark) throws {
        sample.clock.advance(by: 1)
        try sample.tamper("DELETE FROM journal WHERE seq > ?", [mark.point.sequence])
        try sample.tamper(
            "UPDATE journal_mark SET seq = ?, digest = ?, signature = ?, rows = ? WHERE name = 'head'",
            [mark.point.sequence, mark.point.digest, try #require(mark.signature), mark.rows])
    }

    /// A request of an enrollment, in a database that was put back to before the last runs.
    func restored() async throws -> (card: SampleEnrollment, request: RequestID) {
        try await sample.agent.prepare()
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        try await sample.agent.conclude()
        let mark = try #require(try await sample.store.real.read { try $0.journalMark(.head) })
        for _ in 1...2 { try await run(try sample.restarted()) }
        try putBack(to: mark)
        return (card, try await sample.requests()[0].id)
    }

    func causes(of agent: SampleAgent) async -> [Trouble.Cause] {
        let causes: [Trouble.Cause] = [.headMissing, .restored, .rowsChanged]
        let notReady = await agent.agent.figures().notReady
        return causes.filter { notReady[$0] == 1 }
    }
}
