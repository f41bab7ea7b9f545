package import Records
package import ThreeDS

extension Enrollment {
    /// The findings that an operator must read at once, when an enrollment is made or listed.
    package var warnings: [Warning] { findings.filter { $0.severity != .low }.map(\.warning) }
}
