#if PostgreSQL
import Keys
import StoreTables
import TableRows
import TestStores
import Testing
import TextAndTime

@testable import Authenticator
@testable import Journal
@testable import Records

/// `audit verify` holds the chains of all hosts: each by itself, against what the others have seen, and against the rows.
@Suite(.timeLimit(.minutes(20)))
struct HostAuditTests {
    private let alpha: SampleAgent
    private let beta: SampleAgent

    init() async throws { (alpha, beta) = try await SampleAgent.twoHostsThatHaveMet() }

    private func tamper(_ sql: String, _ values: StatementValues = []) throws {
        try StoreKind.$current.withValue(.postgres) { try alpha.tamper(sql, values) }
    }

    /// What beta's chain is at the moment, as a copy of the database would have it.
    private func headOfBeta() async throws -> JournalMark {
        try #require(try await beta.store.real.read { try $0.journalMark(.head) })
    }

    /// Cuts beta's chain off behind an older head, as whoever has a copy of the database can.
    private func cutBeta(to old: JournalMark) throws {
        try tamper("DELETE FROM journal WHERE host = 'beta' AND seq > ?", [old.point.sequence])
        try tamper(
            "UPDATE journal_mark SET seq = ?, digest = ?, signature = ? WHERE host = 'beta'",
            [old.point.sequence, old.point.digest, old.signature])
    }

    private func fault(by host: SampleAgent) async throws -> JournalError? {
        try await host.agent.journal.verify().fault
    }

    @Test func `the chains of all hosts are held, and each has its head`() async throws {
        let card = try await alpha.enrolled()
        try await alpha.receive(SampleRequest(), for: card)
        try await beta.approve(try await beta.onlyRequest().id)
        for (host, names) in [(alpha, ["alpha", "beta"]), (beta, ["beta", "alpha"])] {
            let verdict = try await host.agent.journal.verify()
            #expect(verdict.fault == nil && verdict.chains.map(\.host) == names)
            for chain in verdict.chains { #expect(chain.count == Int(try #require(chain.head).point.sequence)) }
        }
    }

    @Test func `rows that another host writes while others are read are no fault, nor is a host that joins`()
        async throws
    {
        var requests: [RequestID] = []
        for number in 1...6 {
            let card = try await alpha.enrolled("\(number)")
            try await alpha.receive(.numbered(number), for: card)
            requests.append(try #require(try await alpha.requests().last).id)
        }
        let (looks, isActing, all) = (Box(0), Box(false), requests)
        let (alpha, beta) = (alpha, beta)
        alpha.store.beforeReading {
            guard !isActing.value else { return }
            isActing.set(true)
            defer { isActing.set(false) }
            let look = looks.next()
            if look == 6 {
                let gamma = try StoreKind.$current.withValue(.postgres) { try alpha.neighbour("gamma") }
                try await gamma.agent.prepare()
            } else if look.isMultiple(of: 2), all.indices.contains(look / 2 - 1) {
                try await beta.approve(all[look / 2 - 1])
            }
        }
        let verdict = try await JournalAudit(store: alpha.agent.journal.store, page: 1).verify()
        #expect(verdict.fault == nil && verdict.chains.map(\.host) == ["alpha", "beta", "gamma"])
    }

    @Test func `a chain that was cut off is named by what another host has seen of it`() async throws {
        let old = try await headOfBeta()
        try await beta.agent.conclude()
        try await alpha.agent.hostWitness.look()
        let end = try await headOfBeta().point.sequence
        try cutBeta(to: old)
        let fault = try #require(try await fault(by: alpha))
        #expect(fault.host == "beta" && fault.sequence == old.point.sequence + 1)
        #expect(fault.problem == "is missing: host alpha has seen the chain up to entry \(end)")
    }

    @Test func `a host whose chain was cut off while it was away takes no more entries`() async throws {
        let old = try await headOfBeta()
        try await beta.agent.conclude()
        try await alpha.agent.hostWitness.look()
        try cutBeta(to: old)
        let again = try StoreKind.$current.withValue(.postgres) { try alpha.neighbour("beta") }
        try await again.agent.prepare()
        #expect(again.storeError?.kind == .forged)
        #expect(again.storeError?.sentence.contains("host alpha has seen entry") == true)
    }

    @Test func `a chain that was replaced, and is as long as before, is found`() async throws {
        let old = try await headOfBeta()
        try await beta.agent.conclude()
        try await alpha.agent.hostWitness.look()
        // The host itself would not go on: so its key signs another end here, as on an older copy of the database.
        try cutBeta(to: old)
        let fake = try StoreKind.$current.withValue(.postgres) { try alpha.neighbour("beta") }
        let key = try #require(try await fake.store.real.read { try $0.sealedAuditKey() })
        let signer = try fake.ports.auditKeys.open(key)
        try await fake.store.real.write { store in
            for number in 1...9 { try store.record(.started(version: "\(number)"), at: SampleAgent.start) }
            let head = try #require(try store.journalMark(.head)).point
            let signature = try signer.signature(for: JournalStatement(.head, head))
            try store.set(JournalMark(point: head, signature: signature), as: .head)
        }
        let fault = try #require(try await fault(by: alpha))
        #expect(fault.host == "beta" && fault.problem.contains("is not the one that host alpha has seen"))
    }

    @Test func `a chain that is gone is named, and one without its key`() async throws {
        try tamper("DELETE FROM audit_key WHERE host = 'beta'")
        #expect(try await fault(by: alpha)?.host == "beta")
        try tamper("DELETE FROM journal WHERE host = 'beta'; DELETE FROM journal_mark WHERE host = 'beta'")
        let fault = try #require(try await fault(by: alpha))
        #expect(fault.host == "beta" && fault.problem.contains("is missing: host alpha has seen the chain"))
    }

    @Test func `a host that lost its chain makes no new one`() async throws {
        for table in ["audit_key", "journal", "journal_mark"] {
            try tamper("DELETE FROM \(table) WHERE host = 'beta'")
        }
        let again = try StoreKind.$current.withValue(.postgres) { try alpha.neighbour("beta") }
        try await again.agent.prepare()
        #expect(again.storeError?.kind == .forged)
    }

    @Test func `a chain under a key that nobody certified is named`() async throws {
        // What another store's host wrote under the same secret, put in here.
        let gamma = try StoreKind.$current.withValue(.postgres) { try alpha.neighbour("gamma") }
        try await gamma.agent.prepare()
        let key = try #require(try await gamma.store.real.read { try $0.sealedAuditKey() })
        let signer = try gamma.ports.auditKeys.open(key)
        let entry = try JournalEntry(
            .auditKeyMade(signer.publicKey, of: "gamma"), at: SampleAgent.start, after: .beginning)
        let signature = try signer.signature(for: JournalStatement(.head, try entry.point))
        try tamper("DELETE FROM journal WHERE host = 'gamma'")
        try tamper(
            "INSERT INTO journal VALUES ('gamma', 1, ?)", [String(decoding: entry.bytes, as: UTF8.self)])
        try tamper(
            "UPDATE journal_mark SET seq = 1, digest = ?, signature = ? WHERE host = 'gamma'",
            [try entry.point.digest, signature])
        let fault = try #require(try await fault(by: alpha))
        #expect(fault.host == "gamma" && fault.problem.contains("that no other host has certified"))
    }

    @Test func `a copy of a chain under another name is named`() async throws {
        let copied = [
            "audit_key": "one, sealed", "journal": "seq, entry", "journal_mark": "name, seq, digest, signature, rows",
        ]
        try tamper("INSERT INTO host SELECT 'ghost', identity, 1, alive_until FROM host WHERE name = 'beta'")
        for (table, columns) in copied {
            try tamper("INSERT INTO \(table) SELECT 'ghost', \(columns) FROM \(table) WHERE host = 'beta'")
        }
        let fault = try #require(try await fault(by: alpha))
        #expect("\(fault)" == "entry 1 of host ghost is of another host: beta has written it")
    }

    @Test func `an entry of another host that was changed is named with its host`() async throws {
        try tamper(
            "UPDATE journal SET entry = replace(entry, '1.2.3', '1.2.4') WHERE host = 'beta' AND seq = 3")
        let fault = try #require(try await fault(by: alpha))
        #expect(fault.host == "beta" && "\(fault)".hasPrefix("entry 3 of host beta"))
    }

    @Test func `evidence has what every host has done, and the asked host's word for it`() async throws {
        let card = try await alpha.enrolled()
        try await alpha.receive(SampleRequest(), for: card)
        let id = try await beta.onlyRequest().id
        try await beta.approve(id)
        for host in [alpha, beta] {
            let extract = try await host.agent.journal.extract(about: id)
            let kinds = Set(extract.rows.compactMap(JournalEntry.init).map(\.kind))
            #expect(kinds == [.presented, .decided] && extract.fault == nil)
            let seal = try #require(extract.seal)
            let key = try #require(try await host.agent.journal.store.publicKey())
            #expect(try key.isValid(signature: seal.signature, over: seal.statement))
            let lines = String(decoding: seal.statement, as: UTF8.self).split(separator: "\n").dropFirst(2)
            let digests = try extract.rows.map { Hexadecimal.text(try SHA256Digest.of($0.bytes)) }
            #expect(lines.map { $0.suffix(64) } == digests.map { $0[...] })
        }
        try tamper("UPDATE journal SET entry = replace(entry, 'approve', 'deny') WHERE host = 'beta'")
        let changed = try await alpha.agent.journal.extract(about: id)
        #expect(changed.seal == nil && changed.fault?.host == "beta")
    }

    // MARK: Rows

    @Test func `a signCount that another host has signed is held against the row`() async throws {
        let card = try await alpha.enrolled()
        let before = try await alpha.copiedRow(of: card)
        try await alpha.receive(SampleRequest(), for: card)
        try await beta.approve(try await beta.onlyRequest().id)
        try alpha.putBack(before, of: card)
        let fault = try #require(try await fault(by: alpha))
        #expect(fault.problem.contains("is at signCount 0, the journal at 1"))
    }

    @Test func `wrong PINs that another host has counted are held against the row`() async throws {
        let (card, request) = try await alpha.enrolledWithPIN()
        let before = try await alpha.copiedRow(of: card)
        for _ in 1...2 { _ = try await beta.refusal(of: request, pin: .wrong) }
        try await beta.agent.hostWitness.look()
        _ = try await beta.refusal(of: request, pin: .wrong)
        try alpha.putBack(before, of: card)
        #expect(try await fault(by: alpha)?.problem.contains("had more wrong PINs than its row says") == true)
    }

    @Test func `a right PIN on another host clears the wrong ones, whatever was seen of it`() async throws {
        let (card, request) = try await alpha.enrolledWithPIN()
        for _ in 1...2 { _ = try await alpha.refusal(of: request, pin: .wrong) }
        try await beta.agent.hostWitness.look()
        #expect(try await beta.refusal(of: request, pin: .right) == nil)
        #expect(try await fault(by: alpha) == nil)
        let again = try StoreKind.$current.withValue(.postgres) { try alpha.neighbour("alpha") }
        try await again.agent.prepare()
        #expect(try await again.tries(of: card).failures == 0)
    }
}

extension SampleAgent {
    /// The columns of an enrollment's row that count, with its seal, as a copy of the database has them.
    fileprivate func copiedRow(of card: SampleEnrollment) async throws -> String {
        let name = "old_\(card.id.text)"
        try StoreKind.$current.withValue(.postgres) {
            try tamper("CREATE TABLE \(name) AS SELECT * FROM enrollment WHERE id = '\(card.id.text)'")
        }
        return name
    }

    fileprivate func putBack(_ name: String, of card: SampleEnrollment) throws {
        let columns = [
            "sign_count", "pin_failures", "pin_blocked_until", "journal_seq", "journal_host", "version", "pin_epoch",
            "seal", "body",
        ]
        let sets = columns.map { "\($0) = old.\($0)" }.joined(separator: ", ")
        try StoreKind.$current.withValue(.postgres) {
            try tamper("UPDATE enrollment SET \(sets) FROM \(name) AS old WHERE enrollment.id = old.id")
        }
    }
}
#endif
