import FoundationEssentials
package import IssuerProtocol
package import StrictJSON

/// A file of `conformance/cases/approver/requests`: its changes to a good request, and the expected verdict.
package struct RequestCase: Sendable {
    package enum Expectation: String, Sendable, CaseIterable {
        case inOrder, expired, early, tooEarly, refused, unanswerable, notAuthentic, unknownKey, cancellation
    }

    /// A case without changes.
    var unchanged: RequestCase {
        RequestCase(
            header: header, expected: .inOrder, code: nil, reason: nil, warnings: [], patch: [:], good: good)
    }

    private init(
        header: CaseHeader, expected: Expectation, code: String?, reason: DenyReason?, warnings: [String],
        patch: JSONObject, good: JSONValue
    ) {
        self.header = header
        self.expected = expected
        self.code = code
        self.reason = reason
        self.warnings = warnings
        self.patch = patch
        self.good = good
    }

    /// The file of the good request that the cases of a directory change.
    package static let goodRequest = "approver/good-request.json"
    private static let members = ["expect", "code", "reason", "warnings", "patch"]

    package let header: CaseHeader
    package let expected: Expectation
    /// The stable token of the broken rule.
    package let code: String?
    /// The reason of the denial that the issuer must receive.
    package let reason: DenyReason?
    /// The ids of the warnings for a valid request.
    package let warnings: [String]
    let patch: JSONObject
    /// The good request: `{"header", "claims"}`.
    let good: JSONValue

    package init(_ node: CaseNode, name: String, good: JSONValue) throws(CaseFileError) {
        header = try CaseHeader(node, name: name, others: Self.members, commands: TestedApprover.commands)
        let members = try node.members()
        guard let expected = members["expect"], let patch = members["patch"] else {
            throw node.error("expect and patch must be there")
        }
        self.expected = try expected.choice(Expectation.self)
        code = try members["code"]?.text()
        reason = try members["reason"]?.choice(DenyReason.self)
        warnings = try members["warnings"]?.text().split(separator: " ").map(String.init) ?? []
        guard (reason != nil) == (self.expected == .refused) else {
            throw node.error("reason must be there if expect is refused, and else not")
        }
        do {
            self.patch = try JSONReader.object(Array(try patch.text().utf8), limits: JSONLimits(maxBytes: 100_000))
        } catch { throw patch.error("patch: \(error)") }
        self.good = good
    }

    /// Reads all cases of a directory, in the order of their names.
    package static func all(in directory: CaseDirectory) throws(CaseFileError) -> [RequestCase] {
        let path = "\(directory.path)/\(goodRequest)"
        let good: JSONValue
        do {
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
            good = try JSONReader.value(bytes, limits: JSONLimits(maxBytes: 10_000))
        } catch { throw CaseFileError("\(path): cannot be read: \(error)") }
        var cases: [RequestCase] = []
        for file in try directory.files(of: "approver/requests") {
            cases.append(try RequestCase(file.node, name: file.name, good: good))
        }
        return cases
    }
}

/// An error in a case's patch.
struct CaseError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
