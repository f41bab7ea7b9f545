#if PostgreSQL
import Custody
import Foundation
import Keys
import ScratchDirectories
import TableRows
import TestStores
import Testing

@testable import Authenticator

/// Key files of a host whose enrollments another host has ended, on one PostgreSQL.
@Suite(.timeLimit(.minutes(10)))
struct EndedKeyFilesTests {
    private let alpha: SampleAgent
    /// Has the key files.
    private let beta: SampleAgent

    init() throws {
        (alpha, beta) = try StoreKind.$current.withValue(.postgres) {
            let alpha = try SampleAgent(newKeys: .inStore)
            return (alpha, try alpha.neighbour("beta", shares: SetShare(isOurs: true)))
        }
    }

    private var files: [String] { get throws { try beta.directory.files(in: "keys-beta") } }

    /// An enrollment whose key is in a file of beta too.
    private func enrolled(_ name: String) async throws -> EnrollmentID {
        let id = try await alpha.enrolled(name).id
        let custody = try KeyFileCustody(directory: "\(beta.directory.path)/keys-beta", secret: beta.secret)
        try custody.keepInFile(try #require(try await alpha.enrollment(id).sealedKey), of: id)
        return id
    }

    @Test func `a host removes the key file of an enrollment that another has ended`() async throws {
        let (card, other) = (try await enrolled("card"), try await enrolled("other"))
        try await beta.running([beta.agent.housekeeper.run]) {
            try await beta.clock.sleepers()
            #expect(try files == ["\(card).key", "\(other).key"].sorted())
            _ = try await alpha.agent.unenroll(card, locally: true, forced: true)
            guard case .ended(_, keyRemoved: true) = try await beta.enrollment(card).state else {
                throw SampleError("not ended")
            }
            try await beta.clock.wakeNext()
            try await beta.clock.sleepers()
            #expect(try files == ["\(other).key"])
        }
    }

    @Test func `key files that cannot be listed do not hold up what is to be erased`() async throws {
        let card = try await enrolled("card")
        _ = try await alpha.agent.unenroll(card, locally: true, forced: true)
        try await alpha.store.real.write { try $0.wantErasure(of: card) }
        try FileManager.default.removeItem(atPath: "\(beta.directory.path)/keys-beta")
        try await beta.running([beta.agent.housekeeper.run]) { try await beta.clock.sleepers() }
        #expect(try await beta.store.real.read { try $0.isErased(card) })
    }

    @Test func `the file of an enrollment that is not over, or whose row is gone, stays`() async throws {
        let (card, gone) = (try await enrolled("card"), try await enrolled("gone"))
        try StoreKind.$current.withValue(.postgres) {
            try alpha.tamper("DELETE FROM enrollment WHERE id = ?", [gone.text])
        }
        try await beta.running([beta.agent.housekeeper.run]) { try await beta.clock.sleepers() }
        #expect(try files == [card, gone].map { "\($0).key" }.sorted())
    }
}
#endif
