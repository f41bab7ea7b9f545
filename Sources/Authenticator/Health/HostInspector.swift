/// The host and the process that the core runs in, which it cannot look at itself.
package protocol HostInspector: Sendable {
    /// What is weak about them now; a check that cannot be made is a finding that is not certain.
    func findings() async -> [Finding]
}

/// Those of a program that vouches for them itself.
package struct NoHostInspector: HostInspector {
    package init() {}

    package func findings() async -> [Finding] { [] }
}
