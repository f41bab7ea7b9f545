/// Whether the journal is whole: the answer of `GET /v1/audit/verify`.
///
/// A member without a value is left out.
package struct AuditView: Codable, Sendable, Equatable {
    /// Whether every entry is as it was written.
    package var whole: Bool
    /// How many are.
    package var entries: Int
    /// The newest entry, as the audit key has signed it.
    package var head: AuditMarkView?
    /// The last entry that was removed for its age, likewise.
    package var floor: AuditMarkView?
    /// The audit key's public half, PEM.
    package var publicKey: String?
    /// The first entry that is not as it was written.
    package var fault: AuditFaultView?
    /// The chains of all hosts, that of the agent that answers first; nil if there is one chain.
    package var hosts: [AuditHostView]?

    package init(
        whole: Bool, entries: Int, head: AuditMarkView? = nil, floor: AuditMarkView? = nil, publicKey: String? = nil,
        fault: AuditFaultView? = nil, hosts: [AuditHostView]? = nil
    ) {
        self.whole = whole
        self.entries = entries
        self.head = head
        self.floor = floor
        self.publicKey = publicKey
        self.fault = fault
        self.hosts = hosts
    }
}

/// The chain of one host of several.
package struct AuditHostView: Codable, Sendable, Equatable {
    package var host: String
    /// Whether every entry of it is as it was written, and as the other chains say.
    package var whole: Bool
    /// How many entries are as they were written.
    package var entries: Int
    package var head: AuditMarkView?
    package var floor: AuditMarkView?
    /// The audit key's public half, PEM.
    package var publicKey: String?
    /// The first entry that is not.
    package var fault: AuditFaultView?

    package init(host: String, whole: Bool, entries: Int) {
        (self.host, self.whole, self.entries) = (host, whole, entries)
    }
}

/// An entry of the journal that is signed.
package struct AuditMarkView: Codable, Sendable, Equatable {
    package var seq: Int64
    /// SHA-256 of the entry's bytes, hexadecimal, as sha256sum(1) prints it.
    package var digest: String
    /// The bytes that are signed.
    package var statement: String
    /// A DER ECDSA-Sig-Value over them, standard base64, as openssl(1) reads it.
    package var signature: String

    package init(seq: Int64, digest: String, statement: String, signature: String) {
        self.seq = seq
        self.digest = digest
        self.statement = statement
        self.signature = signature
    }
}

/// What is wrong with an entry.
package struct AuditFaultView: Codable, Sendable, Equatable {
    /// In whose chain it is; nil if there is one chain, or it is about a row.
    package var host: String?
    package var seq: Int64
    /// A sentence.
    package var message: String

    package init(host: String? = nil, seq: Int64, message: String) {
        self.host = host
        self.seq = seq
        self.message = message
    }
}

/// The audit key's public half: the answer of `GET /v1/audit/key`.
package struct AuditKeyView: Codable, Sendable, Equatable {
    /// PEM.
    package var publicKey: String

    package init(publicKey: String) { self.publicKey = publicKey }
}

/// The chains that have a host's name: the answer of `GET /v1/audit/hosts`.
package struct AuditHostsView: Codable, Sendable, Equatable {
    /// In the order of their names; empty if there is but one chain, which has none.
    package var hosts: [AuditChainView]

    package init(hosts: [AuditChainView]) { self.hosts = hosts }
}

/// Whose chain it is, and the public half of its audit key.
package struct AuditChainView: Codable, Sendable, Equatable {
    package var host: String
    /// PEM; nil if the key is not there, or under another secret.
    package var publicKey: String?

    package init(host: String, publicKey: String?) { (self.host, self.publicKey) = (host, publicKey) }
}

/// A line of the exported journal.
package enum AuditLine {
    /// The line as it is exported among those of other chains: its chain's name is its first member.
    ///
    /// No entry has a member of this name, so without it the line is the entry's own bytes again.
    package static func line(_ entry: [UInt8], of host: String) -> [UInt8] {
        Array("{\"chain\":\"\(host)\",".utf8) + entry.dropFirst()
    }

    private struct Numbered: Decodable {
        let seq: Int64
    }

    /// The entry's number.
    package static func seq(of line: [UInt8]) throws(ClientError) -> Int64 {
        guard let entry = ControlJSON.answer(line, as: Numbered.self) else {
            throw .unclear("An entry of the journal could not be read: is the agent of another version?")
        }
        return entry.seq
    }
}
