/// The host and the process that the core runs in, which it cannot look at itself.
package protocol HostInspector: Sendable {
    /// What is weak about them now; a check that cannot be made is a finding that is not certain.
    func findings() async -> [Finding]

    /// The descriptors of the process.
    var descriptors: DescriptorFigures { get }
    /// The bytes that are free on the state directory's disk; `nil` if nobody knows.
    var freeDisk: Int64? { get }
}

extension HostInspector {
    /// The figures of a process in which nobody looks.
    package var descriptors: DescriptorFigures { DescriptorFigures() }
    package var freeDisk: Int64? { nil }
}

/// The descriptors that the system refused to the process.
package struct DescriptorFigures: Sendable, Equatable {
    /// The number of refused descriptors since the start.
    package var refused: Int
    /// A sentence if none is left, or was a moment ago; `nil` if all is well.
    package var shortage: String?

    package init(refused: Int = 0, shortage: String? = nil) {
        self.refused = refused
        self.shortage = shortage
    }
}

/// Those of a program that vouches for them itself.
package struct NoHostInspector: HostInspector {
    package init() {}

    package func findings() async -> [Finding] { [] }
}
