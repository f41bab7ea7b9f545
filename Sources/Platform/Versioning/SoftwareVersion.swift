/// The version of this software: of each of its programs, and of the package that contains them.
package enum SoftwareVersion {
    package static let text = "0.1.0"

    /// Returns the version of an agent, and says which of the two builds it is.
    package static func ofAgent(_ version: String, hasPersonas: Bool) -> String {
        hasPersonas ? "\(version) with personas, not for production" : version
    }
}
