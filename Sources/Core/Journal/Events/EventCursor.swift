import Records

/// How far a reader of events has been told all: a place in each chain of the journal.
///
/// Its text is a number if there is one chain, such as `17`. If there are several it has a place for each host, such as
/// `alpha:17,beta:4`, in the order of their names. What it does not name begins at its beginning, so a host that is new is
/// read whole.
///
/// Several places, as the chains are written independently: nothing but its own number says what came first.
package struct EventCursor: Sendable, Hashable {
    /// The longest text, which has to fit into a header field.
    package static let maxBytes = 8_000
    /// The most hosts that it names.
    package static let maxHosts = HostName.maxOthers + 1
    /// Those of the greatest number.
    private static let mostDigits = 19
    /// Before everything.
    package static let beginning = EventCursor()
    /// What a text has to be.
    package static let form =
        "a number of 0 or more, or a place for each host such as alpha:17,beta:4 (each host once, at most \(maxHosts), "
        + "in \(maxBytes) bytes)"

    /// Numbers of entries, by host; the empty name stands for the only chain, and no number is 0.
    private var places: [String: Int64] = [:]

    private init() {}

    /// A place in the only chain.
    package init(_ sequence: Int64) { self[""] = sequence }

    /// Nil for anything that is not of the ``form``.
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

    /// The number of the last entry that was looked at, of the chain of a host; 0 before the first.
    package subscript(host: String) -> Int64 {
        get { places[host] ?? 0 }
        set { places[host] = newValue > 0 ? newValue : nil }
    }

    /// Those of some hosts that a cursor can name besides another, whatever their numbers: the first ones by name.
    static func hosts(_ names: [String], besides other: String) -> [String] {
        var room = maxBytes - longest(other)
        let fitting = names.sorted().prefix { name in
            room -= longest(name)
            return room >= 0
        }
        return Array(fitting.prefix(maxHosts - 1))
    }

    /// The bytes that a place in the chain of a host takes at most.
    private static func longest(_ host: String) -> Int { "\(host):\(Int64.max),".utf8.count }

    /// The hosts in whose chains something was looked at.
    var hosts: [String] { places.keys.sorted() }

    /// Whether it is nowhere before another one.
    package func reaches(_ other: EventCursor) -> Bool { other.places.allSatisfy { self[$0.key] >= $0.value } }
}
