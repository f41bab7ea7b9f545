package import Keys

/// What a verification of the journal found.
package struct JournalVerdict: Sendable {
    /// The chain of the host that was asked, then those of all others, by name.
    package let chains: [ChainVerdict]
    /// The first entry that is not as it was written; nil if all are.
    package let fault: JournalError?
    /// The entries about the request that was asked for, up to the fault.
    ///
    /// The oldest ``JournalExtract/maxEntries``.
    let found: [JournalEntry]

    /// How many entries of the chain of the host that was asked are as they were written.
    package var count: Int { chains.first?.count ?? 0 }
    /// Behind what its kept entries begin; nil if none was removed for its age.
    package var floor: JournalMark? { chains.first?.floor }
    /// The head that was held against them.
    package var head: JournalMark? { chains.first?.head }
}

/// What a verification found about one chain.
package struct ChainVerdict: Sendable {
    /// Empty for the only chain.
    package let host: String
    package let count: Int
    package let floor: JournalMark?
    package let head: JournalMark?
    package let key: PublicKey?
    /// The first entry that is not as it was written, or that another host's chain says is not.
    package fileprivate(set) var fault: JournalError?
}

/// Verifies the whole journal: all chains, what they say of each other, and what they say of the rows.
struct JournalAudit: Sendable {
    let store: JournaledStore
    /// Whose entries are wanted; nil for none.
    var request: RequestID?

    func run() async throws -> JournalVerdict {
        // Before the database is read: what is written meanwhile is newer.
        let committed = store.head
        let own = try await store.publicKey()
        let moment = try await store.read { [hosts = store.hosts] in try JournalMoment($0, hosts, own: own) }
        let ends = Dictionary(moment.chains.map { ($0.host, $0) }) { first, _ in first }
        var (audits, faults, rows): ([ChainAudit], [JournalError?], JournaledRows) = ([], [], JournaledRows())
        for end in moment.chains {
            var audit = ChainAudit(store, end, among: ends, request)
            faults.append(try await audit.run(telling: &rows))
            audits.append(audit)
        }
        hold(moment.chains, audits, &faults)
        var fault = faults.lazy.compactMap(\.self).first ?? Self.missingChain(audits, faults, ends)
        if fault == nil, let head = moment.chains.first?.head?.point {
            fault = try rows.firstFault(of: moment.rows, head: head, all: request == nil)
            if fault == nil, let committed, committed.sequence > head.sequence {
                fault = JournalError(
                    sequence: head.sequence + 1,
                    problem: "is missing: this agent has written up to entry \(committed.sequence)")
            }
        }
        let chains = zip(audits, faults).map { audit, fault in
            ChainVerdict(
                host: audit.end.host, count: audit.count, floor: audit.floor, head: audit.end.head,
                key: audit.end.key, fault: fault)
        }
        return JournalVerdict(chains: chains, fault: fault, found: Self.merged(audits.map(\.found)))
    }

    /// Holds chains against what others say of them.
    private func hold(_ ends: [JournalMoment.End], _ audits: [ChainAudit], _ faults: inout [JournalError?]) {
        // Only of a chain that is whole does anybody vouch for what it says.
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

    /// A chain that others name, and that is not there.
    private static func missingChain(
        _ audits: [ChainAudit], _ faults: [JournalError?], _ ends: [String: JournalMoment.End]
    ) -> JournalError? {
        let told = zip(audits, faults).filter { $0.1 == nil }.flatMap(\.0.faultsOfOthers)
        return told.filter { ends[$0.key] == nil }.min { $0.key < $1.key }?.value
    }

    /// The entries of all chains by their times; those of one chain stay in their order.
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
