package import Keys
package import Records
import StoreTables

/// Result of a verification of the journal.
package struct JournalVerdict: Sendable {
    /// The chain of this host, then all other chains, ordered by host name.
    package let chains: [ChainVerdict]
    /// The first entry that fails verification, or `nil` if all pass.
    package let fault: JournalError?
    /// The entries about the wanted request, up to the fault.
    ///
    /// At most the oldest ``JournalExtract/maxEntries``.
    let found: [JournalEntry]

    /// The number of verified entries in this host's chain.
    package var count: Int { chains.first?.count ?? 0 }
    /// The floor of this host's chain, or `nil` if no entry was removed because of its age.
    package var floor: JournalMark? { chains.first?.floor }
    /// The head that this host's entries were verified against.
    package var head: JournalMark? { chains.first?.head }
}

/// Result of a verification of one chain.
package struct ChainVerdict: Sendable {
    /// The host's name, or empty for the only chain.
    package let host: String
    package let count: Int
    package let floor: JournalMark?
    package let head: JournalMark?
    package let key: PublicKey?
    /// The first entry that fails verification, by itself or according to another host's chain.
    package fileprivate(set) var fault: JournalError?
}

/// Verifies the whole journal: every chain, the chains against each other, and the rows against the chains.
///
/// The rows are read page by page while other transactions write. So each page is compared with the chains as of the
/// moment when the page is read: the same read of the store returns the entries appended since, and these are verified
/// first. Each row is seen once, at some moment of the audit. A row that is made meanwhile may be left out. A row that
/// is removed meanwhile belongs to an enrollment that ended long ago. If a row is changed behind the agent's back
/// before its page is read, this audit finds it. If it is changed later, the next audit finds it.
struct JournalAudit: Sendable {
    let store: JournaledStore
    /// The request whose entries are collected, or `nil` for none.
    var request: RequestID?
    /// Maximum number of rows in memory.
    var page = 500

    /// Maximum number of runs, if the chains change during the audit.
    private static let mostTries = 10

    /// - Throws: `CommandError` if hosts come and go, or entries are removed because of their age, faster than the
    ///   audit can follow; the store's errors.
    func verify() async throws -> JournalVerdict {
        for _ in 1...Self.mostTries {
            do { return try await runOnce() } catch is ChainsChanged {}
        }
        throw CommandError(
            .failed, "the journal could not be verified: it has lost entries, or hosts, while it was read")
    }

    private func runOnce() async throws -> JournalVerdict {
        // Before the database is read: a commit in between can only add entries.
        let committed = store.head
        let own = try await store.publicKey()
        let moment = try await store.survey { [hosts = store.hosts] in try JournalMoment($0, hosts, own: own) }
        let ends = Dictionary(moment.chains.map { ($0.host, $0) }) { first, _ in first }
        var rows = JournaledRows(starts: ends.mapValues(\.start))
        var (audits, faults): ([ChainAudit], [JournalError?]) = ([], [])
        for end in moment.chains {
            var audit = ChainAudit(store, end, request)
            faults.append(try await audit.verify(among: ends, telling: &rows))
            audits.append(audit)
        }
        var fault = Self.firstFault(audits, &faults)
        if fault == nil {
            faults = try await holdRows(against: &audits, own: own, telling: &rows)
            fault = Self.firstFault(audits, &faults) ?? rows.firstFault(all: request == nil)
        }
        if fault == nil, let head = moment.chains.first?.head?.point, let committed,
            committed.sequence > head.sequence
        {
            fault = JournalError(
                sequence: head.sequence + 1,
                problem: "is missing: this agent has written up to entry \(committed.sequence)")
        }
        if fault == nil, request == nil, let head = moment.chains.first?.head?.point,
            let problem = try await store.surveyRows().problem
        {
            fault = JournalError(sequence: head.sequence, problem: "does not vouch for all rows: \(problem)")
        }
        let chains = zip(audits, faults).map { audit, fault in
            ChainVerdict(
                host: audit.end.host, count: audit.count, floor: audit.floor, head: audit.end.head,
                key: audit.end.key, fault: fault)
        }
        return JournalVerdict(chains: chains, fault: fault, found: Self.merged(audits.map(\.found)))
    }

    /// The ends of the chains and a page of rows, as of one moment.
    private struct Look: Sendable {
        let ends: [JournalMoment.End]
        /// The next entries of each chain.
        let batches: [ChainAudit.Batch]
        /// `nil` if a chain continues after its batch: the rows may then be newer than the verified entries.
        let rows: Rows?

        struct Rows: Sendable {
            /// `nil` after the last page.
            let page: EnrollmentPage?
            /// The wrong-PIN counts of keys, with the first page only.
            let keyTries: [KeyIdentity: PINTries]?
        }
    }

    /// Compares all rows with the chains, after verifying the entries appended meanwhile.
    ///
    /// - Returns: the fault of each chain.
    private func holdRows(
        against audits: inout [ChainAudit], own: PublicKey?, telling rows: inout JournaledRows
    ) async throws -> [JournalError?] {
        var (place, faults): (Int64?, [JournalError?]) = (nil, audits.map { _ in nil })
        while faults.allSatisfy({ $0 == nil }) {
            let (followed, behind) = (audits, place)
            let found = try await store.survey { [hosts = store.hosts] in
                try self.look(at: $0, hosts, own: own, from: followed, after: behind)
            }
            for (index, (end, batch)) in zip(found.ends, found.batches).enumerated() {
                faults[index] = try audits[index].goOn(to: end, with: batch, telling: &rows)
            }
            guard let read = found.rows, faults.allSatisfy({ $0 == nil }),
                let head = found.ends.first?.head?.point
            else { continue }
            if let tries = read.keyTries { rows.compare(tries, head: head) }
            guard let page = read.page else { break }
            rows.compare(page.enrollments, head: head)
            place = page.place
        }
        for index in audits.indices where faults[index] == nil { faults[index] = try audits[index].concluded() }
        return faults
    }

    private func look(
        at store: StoreReading, _ hosts: JournalHosts, own: PublicKey?, from audits: [ChainAudit],
        after place: Int64?
    ) throws -> Look {
        let ends = try JournalMoment(store, hosts, own: own).chains
        guard ends.map(\.host) == audits.map(\.end.host) else { throw ChainsChanged() }
        let named = Dictionary(ends.map { ($0.host, $0) }) { first, _ in first }
        let batches = try zip(audits, ends).map { try $0.batch(in: store, to: $1, among: named) }
        guard !batches.contains(where: \.hasMore) else { return Look(ends: ends, batches: batches, rows: nil) }
        let rows = Look.Rows(
            page: try store.enrollmentPage(after: place, limit: page, includingEnded: true),
            keyTries: place == nil ? try store.keyTries() : nil)
        return Look(ends: ends, batches: batches, rows: rows)
    }

    private static func firstFault(_ audits: [ChainAudit], _ faults: inout [JournalError?]) -> JournalError? {
        compare(audits, &faults)
        return faults.lazy.compactMap(\.self).first ?? missingChain(audits, faults)
    }

    /// Compares each chain with the statements of the other chains.
    private static func compare(_ audits: [ChainAudit], _ faults: inout [JournalError?]) {
        let ends = audits.map(\.end)
        // The statements of a chain about others count only if the chain itself passes verification.
        let whole = audits.indices.filter { faults[$0] == nil }
        for place in ends.indices where faults[place] == nil {
            let (host, digest) = (ends[place].host, ends[place].keyDigest)
            if let told = whole.lazy.compactMap({ audits[$0].faultsOfOthers[host] }).first {
                faults[place] = told
            } else if let twin = ends[..<place].first(where: { $0.keyDigest == digest }) {
                faults[place] = JournalError(host: host, sequence: 1, problem: "has the audit key of host \(twin.host)")
            } else if place > 0, !whole.contains(where: { audits[$0].named.contains(host) }),
                audits[place].named.isEmpty
            {
                faults[place] = JournalError(
                    host: host, sequence: 1, problem: "is under an audit key that no other host has certified")
            }
        }
    }

    /// Returns the fault of a chain that other chains name, but that does not exist.
    private static func missingChain(_ audits: [ChainAudit], _ faults: [JournalError?]) -> JournalError? {
        let hosts = Set(audits.map(\.end.host))
        let told = zip(audits, faults).filter { $0.1 == nil }.flatMap(\.0.faultsOfOthers)
        return told.filter { !hosts.contains($0.key) }.min { $0.key < $1.key }?.value
    }

    /// Merges the entries of all chains by time; the entries of one chain keep their order.
    static func merged(_ chains: [[JournalEntry]]) -> [JournalEntry] {
        var (rest, merged) = (chains.map { $0[...] }, [JournalEntry]())
        while merged.count < JournalExtract.maxEntries {
            let next = rest.indices.filter { !rest[$0].isEmpty }.min {
                (rest[$0].first?.at ?? "") < (rest[$1].first?.at ?? "")
            }
            guard let next else { break }
            merged.append(rest[next].removeFirst())
        }
        return merged
    }
}

extension JournalReader {
    /// Verifies every entry against the one before it, the signed marks, and the rows that it describes.
    package func verify() async throws -> JournalVerdict { try await JournalAudit(store: store).verify() }
}
