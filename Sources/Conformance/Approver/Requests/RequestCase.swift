import FoundationEssentials
import StrictJSON

/// One file of `Tests/Fixtures/Cases/requests`: what is expected above the line, what differs from a good request below it.
struct RequestCase {
    static let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fixtures/Cases")
        .standardized

    /// All the files' names, without `.case`.
    static let names: [String] = {
        let path = directory.appending(path: "requests").path
        let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return files.filter { $0.hasSuffix(".case") }.map { String($0.dropLast(5)) }.sorted()
    }()

    static func goodRequest() throws -> JSONValue {
        let bytes = [UInt8](try Data(contentsOf: directory.appending(path: "good-request.json")))
        return try JSONReader.value(bytes, limits: JSONLimits(maxBytes: 10_000))
    }

    let fields: [String: String]
    let patch: JSONObject

    init(named name: String) throws {
        let file = Self.directory.appending(path: "requests/\(name).case")
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let line = lines.firstIndex(of: "---") else { throw CaseError("no line of three hyphens") }
        fields = try Self.fields(lines[..<line])
        patch = try JSONReader.object(
            Array(lines[(line + 1)...].joined(separator: "\n").utf8), limits: JSONLimits(maxBytes: 100_000))
    }

    private static func fields(_ lines: ArraySlice<Substring>) throws -> [String: String] {
        var fields: [String: String] = [:]
        for line in lines {
            guard let colon = line.firstRange(of: ": ") else { throw CaseError("not name: value: \(line)") }
            let name = String(line[..<colon.lowerBound])
            guard ["expect", "code", "reason", "warnings", "because"].contains(name), fields[name] == nil else {
                throw CaseError("unknown or twice: \(name)")
            }
            fields[name] = String(line[colon.upperBound...])
        }
        guard fields["expect"] != nil, fields["because"]?.isEmpty == false else {
            throw CaseError("expect and because must be there")
        }
        return fields
    }
}

struct CaseError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
