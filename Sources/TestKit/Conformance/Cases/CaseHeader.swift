/// What every case says of itself.
package struct CaseHeader: Sendable {
    package enum Level: String, Sendable, CaseIterable {
        /// Whoever fails it breaks the protocol.
        case must
        /// Whoever fails it follows the protocol, but not its advice: it is reported and fails no run.
        case should
    }

    /// The names of these members in a file.
    package static let members = ["title", "section", "statement", "level", "needs"]

    /// The file's, without `.yaml`.
    package let name: String
    /// What the case shows, in a sentence.
    package let title: String
    /// Of the protocol page, such as `8` or `6.1`.
    package let section: String
    /// Words of that section that the case shows.
    package let statement: String
    package let level: Level
    /// The commands that the tested side must have for it, besides those that every run needs.
    package let needs: [String]

    /// Reads the members that are ``members``, and allows `others` beside them.
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

    /// Whether its section is `section` or within it: `6.1` is within `6`.
    package func isIn(_ section: String) -> Bool {
        self.section == section || self.section.hasPrefix(section + ".")
    }
}
