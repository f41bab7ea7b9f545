package import Keys
package import Records
package import StoreTables
import StrictJSON
import TextAndTime

/// The chain of another host, as one host has seen it: its audit key and its signed head.
package struct SeenHost: Sendable, Equatable {
    package let host: String
    package let head: JournalPoint
    /// SHA-256 of the audit key's SubjectPublicKeyInfo.
    let key: [UInt8]

    /// Returns whether `later` can be the same chain at a later time.
    package func isFollowed(by later: SeenHost) -> Bool {
        later.key == key
            && (later.head.sequence > head.sequence || later.head == head)
    }
}

/// Verifies the chains of the other hosts against their own signatures.
///
/// Each audit key is sealed under the secret that all hosts share. So a key that opens was made by one of the hosts. An
/// attacker who can write the database, but lacks the secret, gets no key of their own certified.
package struct JournalHosts: Sendable {
    let keys: any AuditKeys

    /// Result of one look at the chains of the other hosts.
    package struct Look: Sendable {
        package var seen: [SeenHost] = []
        /// The faults, each as the beginning of a sentence: the host, and a clause.
        package var faults: [(host: String, problem: String)] = []
    }

    /// Returns the audit key of the host whose chain `reader` reads.
    ///
    /// - Throws: ``ForgedJournalError`` if the key is missing or sealed under another secret.
    func key(in reader: StoreReading) throws -> PublicKey {
        guard let sealed = try reader.sealedAuditKey() else { throw ForgedJournalError("its audit key is gone") }
        do { return try keys.open(sealed).publicKey } catch {
            throw ForgedJournalError("its audit key is not one that this agent's secret opens")
        }
    }

    /// Returns the chains that match the signatures of their keys.
    ///
    /// - Parameter own: this host's key, which no other host may have.
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
    /// Maximum number of hosts in one entry, to keep the entry small.
    static let hostsInEntry = 16

    /// Facts that certify the keys of other hosts' chains with valid signatures, and state how far these go.
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
    /// The chains of other hosts that the entry names, or `nil` if one of them is malformed.
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
