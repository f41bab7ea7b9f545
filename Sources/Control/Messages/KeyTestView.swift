/// The last look at an enrollment's key since the agent started.
package struct KeyTestView: Codable, Sendable, Equatable {
    /// How far the look went: `file` (it is there, is nobody else's business and under the agent's secret) or
    /// `signature` (it signed, and its public half verified that).
    package var extent: String
    package var at: String
    package var passed: Bool
    /// Why the key cannot be used; absent if it can.
    package var problem: String?

    package init(extent: String, at: String, problem: String?) {
        self.extent = extent
        self.at = at
        passed = problem == nil
        self.problem = problem
    }
}
