/// The members that every case has in common.
package struct CaseHeader: Sendable {
    package enum Level: String, Sendable, CaseIterable {
        /// A failure is a violation of the protocol.
        case must
        /// A failure ignores advice of the protocol; it is reported, but does not fail the run.
        case should
    }

    /// The names of the common members in a file.
    package static let members = ["title", "section", "statement", "level", "needs"]

    /// The name of the file, without `.yaml`.
    package let name: String
    /// The title: what the case tests, in one sentence.
    package let title: String
    /// The section of the protocol page, such as `8` or `6.1`.
    package let section: String
    /// The words of that section that the case tests.
    package let statement: String
    package let level: Level
    /// The commands that the tested side needs for the case, besides those for every run.
    package let needs: [String]

    /// Reads the common ``members``, and allows `others` beside them.
    package init(
        _ node: CaseNode, name: String, others: [String], commands: [String]
    ) throws(CaseFileError) {
        let members = try node.members(Self.members + others)
        func required(_ name: String) throws(CaseFileError) -> CaseNode {
            guard let member = members[name] else { throw node.error("\(name) is missing") }
            return member
        }
        self.name = name
        title = try required("title").text()
        section = try required("section").text()
        statement = try required("statement").text()
        level = try members["level"]?.choice(Level.self) ?? .must
        needs = try members["needs"]?.texts() ?? []
        for need in needs where !commands.contains(need) {
            throw (members["needs"] ?? node).error("needs: one of \(commands.joined(separator: ", "))")
        }
    }

    /// Returns whether the case's section is `section` or within it: `6.1` is within `6`.
    package func isIn(_ section: String) -> Bool {
        self.section == section || self.section.hasPrefix(section + ".")
    }
}
