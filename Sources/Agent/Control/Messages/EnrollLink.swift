import TextAndTime

/// The link that an issuer hands out: `oob-enroll:?issuer=…&code=…`, values percent-encoded (RFC 3986 §2.1).
package struct EnrollLink: Sendable, Equatable {
    package static let scheme = "oob-enroll"

    package let issuer: String
    package let code: String

    /// Parses a link.
    ///
    /// It must have both parameters once each, in any order, and no others.
    package init(_ text: String) throws(ControlError) {
        let parameters = try Self.parameters(of: text)
        guard let issuer = parameters["issuer"], let code = parameters["code"] else {
            throw Self.error("it must have both issuer and code (a shell takes & for its own: put the link in quotes)")
        }
        self.issuer = issuer
        self.code = code
    }

    /// Returns whether a text has the scheme of a link, and so cannot be a code.
    package static func isBegun(by text: String) -> Bool { text.beginsIgnoringCase(with: scheme + ":") }

    private static func parameters(of text: String) throws(ControlError) -> [String: String] {
        let start = scheme + ":?"
        guard text.utf8.count <= 4_096 else { throw error("it may have 4,096 bytes at most") }
        // RFC 3986 §3.1: a scheme is compared without regard to case.
        guard text.beginsIgnoringCase(with: start) else { throw error("it must begin with \(start)") }
        var parameters: [String: String] = [:]
        for pair in text.dropFirst(start.count).split(separator: "&", omittingEmptySubsequences: false) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, ["issuer", "code"].contains(parts[0]) else {
                throw error("its parameters are issuer=… and code=…, once each, and no others")
            }
            guard parameters[parts[0]] == nil else {
                throw error("\(parts[0]) is given twice, and only one is allowed")
            }
            parameters[parts[0]] = try value(parts[1], of: parts[0])
        }
        return parameters
    }

    private static func value(_ written: String, of name: String) throws(ControlError) -> String {
        guard let bytes = PercentEncoding.decode(written), !bytes.isEmpty,
            bytes.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw error("\(name) must be percent-encoded printable ASCII without spaces, and not empty") }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func error(_ problem: String) -> ControlError {
        ControlError(.invalidArgument, "The enrollment link is not of the form \(scheme):?issuer=…&code=…: \(problem).")
    }
}
