package import StrictJSON

/// An error in a JSON form of WebAuthn (Level 3 §5.1).
package struct WebAuthnError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A JSON pointer (RFC 6901) to the member, relative to the object that was read.
    package let path: String
    /// The fault and the allowed form.
    ///
    /// It never repeats the value.
    package let problem: String

    init(path: String, problem: String) {
        self.path = path
        self.problem = problem
    }

    package init(_ error: JSONMemberError) {
        self.init(path: error.path, problem: error.problem)
    }

    package var description: String { "\(path) \(problem)" }
}
