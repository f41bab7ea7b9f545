import TextAndTime
import Yams

extension YamlError {
    /// "LINE: problem", or the problem alone if Yams gives no line.
    ///
    /// The words are our own, because libyaml's messages do not name the member.
    func sentence(about text: String) -> String {
        // Lines end with LF, CR LF or CR alone; `\r\n` is one Character.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        switch self {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            return YAMLProblem(problem, at: mark, in: context, of: lines).sentence
        case .duplicatedKeysInMapping(let names, let context):
            let name = names.min() ?? ""
            let second = lines.indices.filter { lines[$0].hasPrefix("\(name):") }.dropFirst().first
            return "\(second.map { $0 + 1 } ?? context.mark.line): \(EscapedText.of(name)): is set twice"
        default: return " the config is not valid YAML"
        }
    }
}

/// An error of libyaml and its line.
private struct YAMLProblem {
    private let problem: String
    /// The error's position, or the start of the open quote, flow or key: line and column, from 1.
    private let mark: Mark
    /// The number of the line to correct, from 1.
    private let number: Int
    private let line: Substring

    init(_ problem: String, at mark: Mark, in context: YamlError.Context?, of lines: [Substring]) {
        self.problem = problem
        // Report an open quote or bracket at its start: libyaml may report a later line. Other contexts, such as a
        // block or a document, begin far above.
        if let context, ["quoted scalar", "flow", "simple key"].contains(where: context.text.contains(_:)),
            context.mark.line < mark.line
        {
            self.mark = context.mark
        } else {
            self.mark = mark
        }
        number = self.mark.line
        line = lines.indices.contains(number - 1) ? lines[number - 1] : ""
    }

    var sentence: String {
        if at == "\t" { return "\(number): tabs are not allowed here; use spaces" }
        if let advice { return "\(number): \(name.map { "\($0): " } ?? "")\(advice)" }
        return "\(number): this is not YAML: write NAME: VALUE, and put a value with : or # in quotes"
    }

    private var advice: String? {
        switch problem {
        case "found unexpected end of stream", "found unexpected document indicator":
            return "the quote at the beginning of the value is not closed"
        case "found unknown escape character", "did not find expected hexdecimal number",
            "found invalid Unicode character escape code":
            return "in double quotes \\ begins an escape; write \\\\, or put the value in single quotes"
        case "mapping values are not allowed in this context":
            return isIndented && before.allSatisfy { $0 != ":" } ? Self.indent : nil
        case "did not find expected key", "did not find expected '-' indicator",
            "did not find expected <document start>":
            let isFirst = before.allSatisfy { $0 == " " }
            if isFirst, let at, !"[]{},".unicodeScalars.contains(at) { return Self.indent }
        default: break
        }
        guard let sign, name != nil else { return nil }
        return "put the value in quotes; YAML takes \(sign) at its beginning for its own"
    }

    private static let indent = "the line must begin in the column of those that it belongs to"

    /// The YAML indicator in the value's place: the character at `mark`, or else the value's first.
    ///
    /// `nil` if neither is an indicator.
    private var sign: Unicode.Scalar? {
        if let at, "*&!|>@%`".unicodeScalars.contains(at) { return at }
        return parts?.value.unicodeScalars.first { $0 != " " && $0 != "\t" }.flatMap {
            "[{*&!|>@%`".unicodeScalars.contains($0) ? $0 : nil
        }
    }

    /// The member's name, safe to print, if the line begins with one.
    private var name: String? {
        guard let name = parts?.name, !name.isEmpty, name.utf8.count <= 64 else { return nil }
        return EscapedText.of(name)
    }

    private var parts: (name: String, value: Substring)? {
        let parts = line.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let isAround: (Character) -> Bool = { " \t-?[{\"'".contains($0) }
        let name = parts[0].drop(while: isAround).reversed().drop(while: isAround).reversed()
        return (String(name), parts[1])
    }

    private var isIndented: Bool { line.first == " " }
    private var before: Substring.UnicodeScalarView.SubSequence { line.unicodeScalars.prefix(mark.column - 1) }
    private var at: Unicode.Scalar? { line.unicodeScalars.dropFirst(mark.column - 1).first }
}
