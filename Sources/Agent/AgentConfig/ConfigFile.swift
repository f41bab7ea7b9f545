import TextAndTime
import Yams

/// A config file: a YAML mapping of setting names to scalars, with the line of each for messages.
package struct ConfigFile: Sendable {
    package struct Member: Sendable {
        package let value: String
        /// "FILE:LINE: NAME", for messages.
        package let place: String
    }

    /// Larger files are rejected.
    package static let maxBytes = 65_536
    /// Limits aliases, because a few can expand to a huge text; a config needs none.
    package static let maxAliases = 8

    /// The members by name, which is always an allowed one.
    package private(set) var members: [String: Member] = [:]
    /// The lists of mappings by name, which is always an allowed one.
    package private(set) var lists: [String: [ConfigEntry]] = [:]

    private let path: String
    private let names: [String]
    private let sequenceNames: [String]
    private let listNames: [String]
    private let advice: String

    /// Parses a config file, and allows only members of these names.
    ///
    /// `path` is for messages only.
    ///
    /// - Parameters:
    ///   - sequences: the members of `names` whose value may also be a sequence, which becomes a text with commas.
    ///   - lists: the names of the members that are lists of mappings.
    ///   - advice: the end of the error for an unknown name without a similar allowed name.
    package init(
        _ bytes: [UInt8], path: String, names: [String], sequences: [String] = [], lists: [String] = [], advice: String
    ) throws(ConfigError) {
        self.path = path
        self.names = names
        sequenceNames = sequences
        listNames = lists
        self.advice = advice
        // A file may begin with a byte order mark (YAML 1.2.2 §5.2); Yams does not expect one in a text.
        let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        guard bytes.count <= Self.maxBytes, let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigError("\(path): the config file must be UTF-8 text of at most \(Self.maxBytes) bytes")
        }
        guard Self.aliases(in: bytes) <= Self.maxAliases else {
            throw ConfigError("\(path): the config has more than \(Self.maxAliases) aliases (*name)")
        }
        guard let node = try compose(text) else { return }
        guard let mapping = node.mapping else {
            throw ConfigError("\(path):\(node.line): the config must be a mapping, such as `log-level: info`")
        }
        for (name, value) in mapping { try add(name, value) }
    }

    /// Counts the asterisks that may begin an alias (YAML 1.2 §7.1).
    private static func aliases(in bytes: [UInt8]) -> Int {
        bytes.indices.count { index in
            bytes[index] == UInt8(ascii: "*")
                && (index == 0 || " \t\r\n[{,:?-".utf8.contains(bytes[index - 1]))
                && !(index + 1 == bytes.count || " \t\r\n".utf8.contains(bytes[index + 1]))
        }
    }

    private func compose(_ text: String) throws(ConfigError) -> Node? {
        do {
            return try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw ConfigError("\(path):\(error.sentence(about: text))")
        } catch {
            throw ConfigError("\(path): the config is not valid YAML")
        }
    }

    private mutating func add(_ name: Node, _ value: Node) throws(ConfigError) {
        let text = name.scalar?.string ?? ""
        let place = "\(path):\(name.line): \(EscapedText.of(text))"
        guard names.contains(text) || listNames.contains(text) else {
            let advice = NearestName.advice(for: text, among: names + listNames, otherwise: self.advice)
            throw ConfigError("\(place): no such setting; \(advice)")
        }
        guard members[text] == nil, lists[text] == nil else { throw ConfigError("\(place): is set twice") }
        if listNames.contains(text) {
            lists[text] = try entries(of: value, at: place)
            return
        }
        if sequenceNames.contains(text), let sequence = value.sequence {
            members[text] = Member(value: try joined(sequence, at: place), place: place)
            return
        }
        guard let scalar = value.scalar else { throw ConfigError("\(place): must be one value") }
        members[text] = Member(value: scalar.string, place: place)
    }
}

extension ConfigFile {
    /// The most entries of a list.
    package static let maxEntries = 256

    private func entries(of value: Node, at place: String) throws(ConfigError) -> [ConfigEntry] {
        guard let sequence = value.sequence, sequence.count <= Self.maxEntries else {
            throw ConfigError(
                "\(place): must be a list of at most \(Self.maxEntries) entries, each beginning with `- `")
        }
        var entries: [ConfigEntry] = []
        for node in sequence { entries.append(try entry(node, depth: 0)) }
        return entries
    }

    private func joined(_ sequence: Node.Sequence, at place: String) throws(ConfigError) -> String {
        var texts: [String] = []
        for node in sequence {
            guard let text = node.scalar?.string, !text.utf8.contains(UInt8(ascii: ",")) else {
                throw ConfigError("\(place): each entry must be one value without a comma")
            }
            texts.append(text)
        }
        return texts.joined(separator: ", ")
    }

    private func entry(_ node: Node, depth: Int) throws(ConfigError) -> ConfigEntry {
        guard let mapping = node.mapping, depth <= 1 else {
            throw ConfigError("\(path):\(node.line): must be members with a value each, such as `then: ask`")
        }
        var entry = ConfigEntry(place: "\(path):\(node.line)")
        for (name, value) in mapping {
            let text = name.scalar?.string ?? ""
            let place = "\(path):\(name.line): \(EscapedText.of(text))"
            if let scalar = value.scalar {
                entry.members[text] = Member(value: scalar.string, place: place)
            } else {
                entry.parts[text] = try self.entry(value, depth: depth + 1)
            }
        }
        return entry
    }
}

/// A mapping in a list of a config file.
package struct ConfigEntry: Sendable {
    /// "FILE:LINE", for messages.
    package let place: String
    package fileprivate(set) var members: [String: ConfigFile.Member] = [:]
    /// The members that are mappings themselves.
    package fileprivate(set) var parts: [String: ConfigEntry] = [:]

    /// Throws a `ConfigError` for a member with another name.
    package func expect(_ names: [String]) throws(ConfigError) {
        for (name, member) in members where !names.contains(name) {
            throw ConfigError("\(member.place): no such member; \(NearestName.advice(for: name, among: names))")
        }
        for (name, part) in parts where !names.contains(name) {
            let shown = EscapedText.of(name)
            throw ConfigError(
                "\(part.place): \(shown): no such member; \(NearestName.advice(for: name, among: names))")
        }
    }
}

/// The reason why a config file was rejected.
package struct ConfigError: Error, Equatable, Sendable {
    /// A sentence: the place, the fault and the permitted values.
    package let message: String

    package init(_ message: String) { self.message = message }
}

extension Node {
    fileprivate var line: Int { mark?.line ?? 1 }
}
