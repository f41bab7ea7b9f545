package import Records
package import ThreeDS

extension Enrollment {
    /// Those of its findings that whoever enrolls, or lists enrollments, should read at once.
    package var warnings: [Warning] { findings.filter { $0.severity != .low }.map(\.warning) }
}
