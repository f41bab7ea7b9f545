/// The version of this software: of each of its programs, and of the package that they are in.
package enum SoftwareVersion {
    package static let text = "0.1.0"

    /// The version of an agent, and which of the two builds it is.
    package static func ofAgent(_ version: String, hasPersonas: Bool) -> String {
        hasPersonas ? "\(version) with personas, not for production" : version
    }
}
