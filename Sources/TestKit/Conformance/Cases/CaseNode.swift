package import StrictJSON
import TextAndTime
import Yams

/// A value of a YAML file with its position, for errors.
package struct CaseNode {
    /// The limit of a file, in bytes.
    package static let maxBytes = 262_144

    /// The file's path, for messages.
    package let path: String
    private let node: Node

    private init(path: String, node: Node) {
        self.path = path
        self.node = node
    }

    /// Reads the bytes of the file at `path`: UTF-8, one document, no name twice in a mapping.
    package init(_ bytes: [UInt8], path: String) throws(CaseFileError) {
        guard bytes.count <= Self.maxBytes, let text = String(validating: bytes, as: UTF8.self) else {
            throw CaseFileError("\(path): must be UTF-8 text of at most \(Self.maxBytes) bytes")
        }
        // An alias can make a small file a huge value; no case needs one.
        guard !text.split(separator: "\n").contains(where: { $0.contains(": *") || $0.contains("- *") }) else {
            throw CaseFileError("\(path): aliases (*name) are not allowed")
        }
        do {
            guard let node = try Yams.compose(yaml: text) else { throw CaseFileError("\(path): is empty") }
            self.init(path: path, node: node)
        } catch let error as CaseFileError {
            throw error
        } catch {
            throw CaseFileError("\(path): is not valid YAML: \(EscapedText.of("\(error)".firstLines))")
        }
    }

    /// The position, as "FILE:LINE".
    package var place: String { "\(path):\(node.mark?.line ?? 1)" }

    /// Returns an error about this value.
    package func error(_ problem: String) -> CaseFileError { CaseFileError("\(place): \(problem)") }

    /// Reads the value's members by name.
    ///
    /// - Parameter names: the allowed names, or `nil` to allow all.
    /// - Throws: `CaseFileError` if the value is not a mapping or has another member; the error names the nearest name.
    package func members(_ names: [String]? = nil) throws(CaseFileError) -> [String: CaseNode] {
        guard let mapping = node.mapping else { throw error("must have members, such as `name: value`") }
        var members: [String: CaseNode] = [:]
        for (name, value) in mapping {
            let member = CaseNode(path: path, node: name)
            guard let text = name.scalar?.string else { throw member.error("a name must be a text") }
            if let names, !names.contains(text) {
                throw member.error(
                    "\(EscapedText.of(text)): no such member; \(NearestName.advice(for: text, among: names))")
            }
            members[text] = CaseNode(path: path, node: value)
        }
        return members
    }

    /// Reads the value's elements.
    package func elements() throws(CaseFileError) -> [CaseNode] {
        guard let sequence = node.sequence else { throw error("must be a list, each element after `- `") }
        return sequence.map { CaseNode(path: path, node: $0) }
    }

    /// Reads a list of texts; a single text is a list of one.
    package func texts() throws(CaseFileError) -> [String] {
        if node.scalar != nil { return [try text()] }
        var texts: [String] = []
        for element in try elements() { texts.append(try element.text()) }
        return texts
    }

    package func text() throws(CaseFileError) -> String {
        guard let scalar = node.scalar else { throw error("must be one value") }
        return scalar.string
    }

    package func integer(in range: ClosedRange<Int>) throws(CaseFileError) -> Int {
        guard let value = Int(try text()), range.contains(value) else {
            throw error("must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    package func flag() throws(CaseFileError) -> Bool {
        switch try text() {
        case "true": true
        case "false": false
        default: throw error("must be true or false")
        }
    }

    /// Reads a text that must be a raw value of an enumeration.
    package func choice<Choice: RawRepresentable & CaseIterable>(
        _: Choice.Type
    ) throws(CaseFileError) -> Choice where Choice.RawValue == String {
        let text = try text()
        guard let choice = Choice.allCases.first(where: { $0.rawValue == text }) else {
            let names = Choice.allCases.map(\.rawValue)
            throw error("\(EscapedText.of(text)): \(NearestName.advice(for: text, among: names))")
        }
        return choice
    }

    /// Whether this is a mapping, not a list or a single value.
    package var isMapping: Bool { node.mapping != nil }

    /// The value as JSON: a plain `12`, `true` or `null` is a number, a flag or null, a quoted value a string.
    package var json: JSONValue {
        if let mapping = node.mapping {
            return .object(
                JSONObject(
                    mapping.map { name, value in
                        JSONObject.Member(
                            name: name.scalar?.string ?? "", value: CaseNode(path: path, node: value).json)
                    }))
        }
        if let sequence = node.sequence { return .array(sequence.map { CaseNode(path: path, node: $0).json }) }
        guard let scalar = node.scalar else { return .null }
        guard scalar.style == .plain || scalar.style == .any else { return .string(scalar.string) }
        switch scalar.string {
        case "true": return true
        case "false": return false
        case "null", "~", "": return nil
        default: return Int64(scalar.string).map(JSONValue.integer) ?? .string(scalar.string)
        }
    }
}

/// An error in a file of cases or of a tested side: file and line, the error, and the allowed values.
package struct CaseFileError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension String {
    /// The first two lines; an error of the YAML library has the text of the file below its first line.
    fileprivate var firstLines: String { split(separator: "\n").prefix(2).joined(separator: ": ") }
}
