import TextAndTime

/// The error for a member that is missing, of another type, or out of its bounds.
package struct JSONMemberError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The JSON pointer (RFC 6901) of the member, relative to the object that was read.
    package let path: String
    /// The fault and the allowed values, in words; it never repeats the value.
    package let problem: String

    package init(path: String, problem: String) {
        self.path = path
        self.problem = problem
    }

    /// Returns the same error, relative to the object that has this one as its member `name`.
    package func inside(_ name: String) -> JSONMemberError {
        JSONMemberError(path: JSONPointer.text(of: [name]) + path, problem: problem)
    }

    package var description: String { "\(EscapedText.of(path)) \(problem)" }
}

/// JSON pointers (RFC 6901).
enum JSONPointer {
    static func text(of tokens: [String]) -> String {
        tokens.map { "/" + escaped($0) }.joined()
    }

    /// Escapes a token (RFC 6901 §3): `~` becomes `~0`, and `/` becomes `~1`.
    private static func escaped(_ token: String) -> String {
        var result = ""
        for scalar in token.unicodeScalars {
            switch scalar {
            case "~": result += "~0"
            case "/": result += "~1"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
