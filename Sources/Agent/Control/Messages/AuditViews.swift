/// The result of verifying the journal: the answer of `GET /v1/audit/verify`.
///
/// A member without a value is left out.
package struct AuditView: Codable, Sendable, Equatable {
    /// Whether every entry is intact.
    package var whole: Bool
    /// The number of intact entries.
    package var entries: Int
    /// The newest entry, with the audit key's signature.
    package var head: AuditMarkView?
    /// The last entry that was removed for its age, with the audit key's signature.
    package var floor: AuditMarkView?
    /// The audit key's public half, PEM.
    package var publicKey: String?
    /// The first entry that is not intact.
    package var fault: AuditFaultView?
    /// The chains of all hosts, beginning with the host that answers.
    ///
    /// `nil` if there is one chain.
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
    /// Whether every entry of the chain is intact and agrees with the other chains.
    package var whole: Bool
    /// The number of intact entries.
    package var entries: Int
    package var head: AuditMarkView?
    package var floor: AuditMarkView?
    /// The audit key's public half, PEM.
    package var publicKey: String?
    /// The first entry that is not intact.
    package var fault: AuditFaultView?

    package init(host: String, whole: Bool, entries: Int) {
        (self.host, self.whole, self.entries) = (host, whole, entries)
    }
}

/// A signed entry of the journal.
package struct AuditMarkView: Codable, Sendable, Equatable {
    package var seq: Int64
    /// SHA-256 of the entry's bytes, hexadecimal, as sha256sum(1) prints it.
    package var digest: String
    /// The signed bytes.
    package var statement: String
    /// The signature over the statement: a DER ECDSA-Sig-Value in standard base64, as openssl(1) reads it.
    package var signature: String

    package init(seq: Int64, digest: String, statement: String, signature: String) {
        self.seq = seq
        self.digest = digest
        self.statement = statement
        self.signature = signature
    }
}

/// A fault of an entry.
package struct AuditFaultView: Codable, Sendable, Equatable {
    /// The host of the entry's chain.
    ///
    /// `nil` if there is one chain, or if the fault is about a row.
    package var host: String?
    package var seq: Int64
    /// The fault as a sentence.
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

/// The chains that have the name of a host: the answer of `GET /v1/audit/hosts`.
package struct AuditHostsView: Codable, Sendable, Equatable {
    /// The chains, sorted by host.
    ///
    /// Empty if there is only one chain, which has no host name.
    package var hosts: [AuditChainView]

    package init(hosts: [AuditChainView]) { self.hosts = hosts }
}

/// The host of a chain, and the public half of its audit key.
package struct AuditChainView: Codable, Sendable, Equatable {
    package var host: String
    /// PEM.
    ///
    /// `nil` if the key is missing, or is sealed under another secret.
    package var publicKey: String?

    package init(host: String, publicKey: String?) { (self.host, self.publicKey) = (host, publicKey) }
}

/// A line of the exported journal.
package enum AuditLine {
    /// Returns an entry's line for an export of several chains, with the chain's name as its first member.
    ///
    /// No entry has a member of this name. So the line without it is again the bytes of the entry.
    package static func line(_ entry: [UInt8], of host: String) -> [UInt8] {
        Array("{\"chain\":\"\(host)\",".utf8) + entry.dropFirst()
    }

    private struct Numbered: Decodable {
        let seq: Int64
    }

    /// Returns the entry's number.
    package static func seq(of line: [UInt8]) throws(ClientError) -> Int64 {
        guard let entry = ControlJSON.answer(line, as: Numbered.self) else {
            throw .unclear("An entry of the journal could not be read: is the agent of another version?")
        }
        return entry.seq
    }
}
