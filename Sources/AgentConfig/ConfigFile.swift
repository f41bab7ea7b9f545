import StrictJSON
import Yams

/// A config file: a YAML mapping of setting names to scalars, with the line of each for messages.
package struct ConfigFile: Sendable {
    package struct Member: Sendable {
        package let value: String
        /// "FILE:LINE: NAME", for messages.
        package let place: String
    }

    /// A config that is larger than this is none.
    package static let maxBytes = 65_536
    /// Aliases make a short text mean a huge one, which a mapping's keys are then compared by; a config needs none.
    package static let maxAliases = 8

    /// By name; each is one that was allowed.
    package private(set) var members: [String: Member] = [:]

    private let path: String
    private let names: [String]

    /// Reads the bytes of the file at `path`, which is for messages only, and allows members of these names.
    package init(_ bytes: [UInt8], path: String, names: [String]) throws(ConfigError) {
        self.path = path
        self.names = names
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

    /// How many asterisks stand where YAML has those of an alias (YAML 1.2 §7.1).
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
            throw ConfigError("\(path): the config is no YAML")
        }
    }

    private mutating func add(_ name: Node, _ value: Node) throws(ConfigError) {
        let text = name.scalar?.string ?? ""
        let place = "\(path):\(name.line): \(EscapedText.of(text))"
        guard names.contains(text) else {
            throw ConfigError("\(place): there is no such member; allowed are \(names.joined(separator: ", "))")
        }
        guard members[text] == nil else { throw ConfigError("\(place): stands twice") }
        guard let scalar = value.scalar else { throw ConfigError("\(place): must be one value") }
        members[text] = Member(value: scalar.string, place: place)
    }
}

/// Why a file is no config.
package struct ConfigError: Error, Equatable, Sendable {
    /// One sentence: where, what, and what is allowed.
    package let message: String

    init(_ message: String) { self.message = message }
}

extension Node {
    fileprivate var line: Int { mark?.line ?? 1 }
}

extension YamlError {
    /// "LINE: problem", or a problem alone where Yams names no line.
    fileprivate func sentence(about text: String) -> String {
        switch self {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return "\(mark.line): \(problem)"
        case .duplicatedKeysInMapping(let names, let context):
            let name = names.min() ?? ""
            return "\(Self.secondLine(of: name, in: text) ?? context.mark.line): \(EscapedText.of(name)): stands twice"
        default: return " the config is no YAML"
        }
    }

    private static func secondLine(of name: String, in text: String) -> Int? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        return lines.filter { $0.element.hasPrefix("\(name):") }.dropFirst().first.map { $0.offset + 1 }
    }
}
