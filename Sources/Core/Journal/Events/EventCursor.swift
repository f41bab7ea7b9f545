import Records

/// The position of a reader of events: a place in each chain of the journal.
///
/// The text is a number if there is one chain, such as `17`. If there are several, it is a place for each host, such as
/// `alpha:17,beta:4`, ordered by name. A chain that is not named is read from its beginning, so a new host's chain is
/// read in full.
///
/// There is a place for each chain because the chains are written independently. Only entries of the same chain have an
/// order.
package struct EventCursor: Sendable, Hashable {
    /// Maximum length of a text, in bytes; it must fit into a header field.
    package static let maxBytes = 8_000
    /// Maximum number of hosts in a cursor.
    package static let maxHosts = HostName.maxOthers + 1
    /// Number of digits of the greatest number.
    private static let mostDigits = 19
    /// The position before all entries.
    package static let beginning = EventCursor()
    /// The required form of a text.
    package static let form =
        "a number of 0 or more, or a place for each host such as alpha:17,beta:4 (each host once, at most \(maxHosts), "
        + "in \(maxBytes) bytes)"

    /// Entry numbers above 0, by host; the empty name stands for the only chain.
    private var places: [String: Int64] = [:]

    private init() {}

    /// Creates a place in the only chain.
    package init(_ sequence: Int64) { self[""] = sequence }

    /// Parses a text, or returns `nil` if it is not of the ``form``.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maxBytes else { return nil }
        self.init()
        if let sequence = Self.number(text[...]) {
            self[""] = sequence
            return
        }
        let parts = text.split(separator: ",", maxSplits: Self.maxHosts, omittingEmptySubsequences: false)
        guard parts.count <= Self.maxHosts else { return nil }
        var hosts: Set<String> = []
        for part in parts {
            let words = part.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard words.count == 2, let host = HostName(String(words[0])), let sequence = Self.number(words[1]),
                hosts.insert(host.text).inserted
            else { return nil }
            self[host.text] = sequence
        }
    }

    private static func number(_ text: Substring) -> Int64? {
        guard text.utf8.count <= mostDigits, text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        else { return nil }
        return Int64(text)
    }

    package var text: String {
        if let sequence = places[""] { return String(sequence) }
        guard !places.isEmpty else { return "0" }
        return places.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
    }

    /// The number of the last entry that was read of a host's chain; 0 before the first.
    package subscript(host: String) -> Int64 {
        get { places[host] ?? 0 }
        set { places[host] = newValue > 0 ? newValue : nil }
    }

    /// Returns the first hosts by name that fit into a cursor besides `other`, even with the longest numbers.
    static func hosts(_ names: [String], besides other: String) -> [String] {
        var room = maxBytes - longest(other)
        let fitting = names.sorted().prefix { name in
            room -= longest(name)
            return room >= 0
        }
        return Array(fitting.prefix(maxHosts - 1))
    }

    /// Maximum length of a place in a host's chain, in bytes.
    private static func longest(_ host: String) -> Int { "\(host):\(Int64.max),".utf8.count }

    /// The hosts whose chains were read.
    var hosts: [String] { places.keys.sorted() }

    /// Whether this cursor is at `other` or after it, in every chain.
    package func reaches(_ other: EventCursor) -> Bool { other.places.allSatisfy { self[$0.key] >= $0.value } }
}
