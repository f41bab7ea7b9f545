/// Inspects the host and the process of the core, which the core cannot do itself.
package protocol HostInspector: Sendable {
    /// Returns the present weaknesses; a check that is not possible is an uncertain finding.
    func findings() async -> [Finding]

    /// Figures about the descriptors of the process.
    var descriptors: DescriptorFigures { get }
    /// The free bytes on the state directory's disk, or `nil` if they are unknown.
    var freeDisk: Int64? { get }
}

extension HostInspector {
    /// The figures of a process without an inspection.
    package var descriptors: DescriptorFigures { DescriptorFigures() }
    package var freeDisk: Int64? { nil }
}

/// Figures about descriptors that the system refused to the process.
package struct DescriptorFigures: Sendable, Equatable {
    /// The number of refused descriptors since the start.
    package var refused: Int
    /// A sentence about a shortage now or a moment ago, or `nil` if there is none.
    package var shortage: String?

    package init(refused: Int = 0, shortage: String? = nil) {
        self.refused = refused
        self.shortage = shortage
    }
}

/// The inspector of a program that checks its host and process itself.
package struct NoHostInspector: HostInspector {
    package init() {}

    package func findings() async -> [Finding] { [] }
}
