/// The host and the process that the core runs in, which it cannot look at itself.
package protocol Surroundings: Sendable {
    /// What is weak about them now; a check that cannot be made is a finding that is not certain.
    func findings() async -> [Finding]
}

/// Those of a program that vouches for them itself.
package struct NoSurroundings: Surroundings {
    package init() {}

    package func findings() async -> [Finding] { [] }
}
