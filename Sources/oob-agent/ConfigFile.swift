import FoundationEssentials
import Yams

/// A config file: a YAML mapping of setting names to scalars, with the line of each for messages.
struct ConfigFile {
    struct Member {
        let value: String
        /// "FILE:LINE: NAME", for messages.
        let place: String
    }

    /// A config that is larger than this is none.
    private static let maxOctets = 65_536

    private(set) var members: [Setting: Member] = [:]

    init(path: String) throws(StartError) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw StartError(.config, "\(path): the config file cannot be read: check the path and its mode")
        }
        guard data.count <= Self.maxOctets, let text = String(validating: data, as: UTF8.self) else {
            throw StartError(.config, "\(path): the config file must be UTF-8 text of at most \(Self.maxOctets) octets")
        }
        guard let node = try Self.compose(text, path) else { return }
        guard let mapping = node.mapping else {
            throw StartError(.config, "\(path):\(node.line): the config must be a mapping, such as `log-level: info`")
        }
        for (name, value) in mapping { try add(name, value, path) }
    }

    private static func compose(_ text: String, _ path: String) throws(StartError) -> Node? {
        do {
            return try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw StartError(.config, "\(path):\(error.sentence(about: text))")
        } catch {
            throw StartError(.config, "\(path): the config is no YAML")
        }
    }

    private mutating func add(_ name: Node, _ value: Node, _ path: String) throws(StartError) {
        let text = name.scalar?.string ?? ""
        let place = "\(path):\(name.line): \(text)"
        guard let setting = Setting(rawValue: text) else {
            let known = Setting.allCases.map(\.rawValue).joined(separator: ", ")
            throw StartError(.config, "\(place): there is no such member; allowed are \(known)")
        }
        guard members[setting] == nil else { throw StartError(.config, "\(place): stands twice") }
        guard let scalar = value.scalar else { throw StartError(.config, "\(place): must be one value") }
        members[setting] = Member(value: scalar.string, place: place)
    }
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
            return "\(Self.secondLine(of: name, in: text) ?? context.mark.line): \(name): stands twice"
        default: return " the config is no YAML"
        }
    }

    private static func secondLine(of name: String, in text: String) -> Int? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        return lines.filter { $0.element.hasPrefix("\(name):") }.dropFirst().first.map { $0.offset + 1 }
    }
}
