package import Keys
package import Records
package import StoreTables
import StrictJSON
import TextAndTime

/// The chain of another host, as a host has found it: its key, and where it ended by that key's signature.
package struct SeenHost: Sendable, Equatable {
    package let host: String
    package let head: JournalPoint
    /// SHA-256 of the audit key's SubjectPublicKeyInfo.
    let key: [UInt8]

    /// Whether what is seen later can be the same chain.
    package func isFollowed(by later: SeenHost) -> Bool {
        later.key == key
            && (later.head.sequence > head.sequence || later.head == head)
    }
}

/// The chains of the other hosts, held against their own signatures.
///
/// Each audit key is sealed under the secret that all hosts have: to open one shows that a host has made it. So whoever
/// can write the database, and lacks the secret, gets no key certified of their own.
package struct JournalHosts: Sendable {
    let keys: any AuditKeys

    /// What a look has found.
    package struct Look: Sendable {
        package var seen: [SeenHost] = []
        /// What is wrong with the others, each a sentence's beginning: host, and clause.
        package var faults: [(host: String, problem: String)] = []
    }

    /// The audit key of the host whose chain a reader has.
    ///
    /// - Throws: ``ForgedJournalError`` if it is not there, or under another secret.
    func key(in reader: StoreReading) throws -> PublicKey {
        guard let sealed = try reader.sealedAuditKey() else { throw ForgedJournalError("its audit key is gone") }
        do { return try keys.open(sealed).publicKey } catch {
            throw ForgedJournalError("its audit key is not one that this agent's secret opens")
        }
    }

    /// The chains that are as their keys have signed them.
    ///
    /// - Parameter own: this host's key, which no other may have.
    package func seen(in store: StoreReading, besides own: PublicKey) throws -> Look {
        var (look, known) = (Look(), Set([try SHA256Digest.of(own.subjectPublicKeyInfo)]))
        for host in try store.otherHosts() {
            do {
                guard let reader = store.reader(of: host) else { throw ForgedJournalError("no host has such a name") }
                let key = try key(in: reader)
                let marks = try JournalMarks(reader)
                try marks.expectSigned(by: key)
                let digest = try SHA256Digest.of(key.subjectPublicKeyInfo)
                guard known.insert(digest).inserted else {
                    throw ForgedJournalError("it has the audit key of another host")
                }
                guard let head = marks.head else { continue }
                look.seen.append(SeenHost(host: host, head: head.point, key: digest))
            } catch let error as ForgedJournalError {
                look.faults.append((host, error.description))
            }
        }
        return look
    }
}

// MARK: In the journal

extension JournalFact {
    /// How many hosts one entry names, so that it stays small.
    static let hostsInEntry = 16

    /// Other hosts' chains are as they are signed: this certifies their keys, and says how far they go.
    package static func hostsSeen(_ hosts: [SeenHost]) -> [JournalFact] {
        stride(from: 0, to: hosts.count, by: hostsInEntry).map { start in
            let members = hosts[start..<min(start + hostsInEntry, hosts.count)].map { seen in
                JSONObject.Member(
                    name: seen.host,
                    value: .string("\(seen.head.sequence) \(seen.head.hexadecimal) \(Hexadecimal.text(seen.key))"))
            }
            return JournalFact(.hostsSeen, ["hosts": .object(JSONObject(members))])
        }
    }
}

extension JournalEntry {
    /// The chains of other hosts that it names; nil if one of them is not in the form.
    package var hostsSeen: [SeenHost]? {
        guard kind == .hostsSeen, case .object(let hosts)? = json["hosts"] else { return nil }
        let seen = hosts.members.map(SeenHost.init)
        return seen.contains { $0 == nil } ? nil : seen.compactMap(\.self)
    }
}

extension SeenHost {
    fileprivate init?(_ member: JSONObject.Member) {
        guard case .string(let text) = member.value else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 3, let sequence = Int64(words[0]), sequence > 0,
            let digest = Hexadecimal.digest(words[1]), let key = Hexadecimal.digest(words[2])
        else { return nil }
        self.init(host: member.name, head: JournalPoint(sequence: sequence, digest: digest), key: key)
    }
}
