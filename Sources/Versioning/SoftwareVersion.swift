/// The version of this software: of each of its programs, and of the package that they are in.
package enum SoftwareVersion {
    package static let text = "0.1.0"
}
