package import StrictJSON
import TextAndTime

extension CheckReport {
    /// Formats the report: the verdict, one line for each rule, and the decoded content; safe for a terminal.
    ///
    /// - Parameter subject: the subject of the check, such as the name of the file.
    package func text(of subject: String) -> String {
        let headline = broken.map { "\(verdict): \($0)" } ?? verdict
        let width = rows.map(\.rule.utf8.count).max() ?? 0
        let rules = rows.map { row in
            [
                row.outcome.word.padded(to: 11), row.section.padded(to: 3), row.rule.padded(to: width),
                row.title + row.outcome.remark,
            ].joined(separator: "  ")
        }
        let message = decoded.members.flatMap { Self.lines(of: $0.value, at: $0.name) }
        return (["\(EscapedText.of(subject, limit: 1_024)): \(headline)", ""] + rules + [""] + message)
            .joined(separator: "\n")
    }

    /// Returns one line for each value, after the path of its names; an array is one value.
    private static func lines(of value: JSONValue, at place: String) -> [String] {
        guard case .object(let object) = value, !object.members.isEmpty else {
            return ["\(place)  " + ShownJSON.escaped(String(decoding: value.serialized(), as: UTF8.self))]
        }
        return object.members.flatMap { lines(of: $0.value, at: "\(place).\(EscapedText.of($0.name))") }
    }

    package var json: JSONObject {
        var json: JSONObject = ["verdict": .string(verdict)]
        json["broken"] = broken.map(JSONValue.string)
        json["rules"] = .array(
            rows.map { row in
                var rule: JSONObject = [
                    "rule": .string(row.rule), "section": .string(row.section), "title": .string(row.title),
                    "result": .string(row.outcome.result),
                ]
                rule["reason"] = row.outcome.reason.map(JSONValue.string)
                return .object(rule)
            })
        json["message"] = .object(decoded)
        return json
    }

    /// The JSON as one line that is safe to print.
    package var jsonLine: String { ShownJSON.escaped(String(decoding: json.serialized(), as: UTF8.self)) }
}

extension CheckReport.Outcome {
    fileprivate var word: String {
        switch self {
        case .passed: "passed"
        case .failed: "FAILED"
        case .notChecked: "not checked"
        }
    }

    fileprivate var result: String {
        switch self {
        case .passed: "passed"
        case .failed: "failed"
        case .notChecked: "notChecked"
        }
    }

    fileprivate var reason: String? {
        switch self {
        case .passed: nil
        case .failed(let reason), .notChecked(let reason): reason
        }
    }

    fileprivate var remark: String { reason.map { " (\($0))" } ?? "" }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - utf8.count))
    }
}
