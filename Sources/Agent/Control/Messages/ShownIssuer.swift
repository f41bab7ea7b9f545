import TextAndTime

/// An issuer's address as shown to a person for confirmation, before anything is sent there.
///
/// It shows where a program would connect. Only the agent can say whether the address is an issuer's.
package struct ShownIssuer: Sendable, Equatable {
    package static let bytes = 1...2_048

    /// The address as given: printable ASCII.
    package let text: String
    /// Scheme, host and port (RFC 6454 §6.2) of the address.
    ///
    /// `nil` if it is not an http or https URL.
    package let origin: String?

    /// - Throws: if the text is not printable ASCII. The error says what is allowed. An international host name is
    ///   ASCII on the wire (RFC 5890 §2.3.2.1).
    package init(_ text: String) throws(ControlError) {
        let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard Self.bytes.contains(text.utf8.count), isVisible else {
            let shown = TerminalText.escaped(text.beginning(bytes: 100))
            throw ControlError(
                .invalidArgument,
                "An issuer's URL has 1 to 2048 characters of printable ASCII, an international host name in its xn-- "
                    + "form; this one is: \(shown)")
        }
        self.text = text
        origin = Self.origin(of: text)
    }

    /// Whether its host is this computer: localhost, 127.0.0.0/8 or ::1.
    package var isLoopback: Bool {
        guard let host else { return false }
        let isAddress = host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
        return host == "localhost" || host == "[::1]" || (host.hasPrefix("127.") && isAddress)
    }

    /// Whether a label of its host encodes letters outside ASCII, which may look like another name.
    package var isInternational: Bool { host?.split(separator: ".").contains { $0.hasPrefix("xn--") } ?? false }

    private var host: String? {
        guard let authority = origin?.split(separator: "/").last else { return nil }
        guard let colon = authority.lastIndex(of: ":"), authority.last != "]" else { return String(authority) }
        return String(authority[..<colon])
    }

    /// Returns the origin of a URL.
    ///
    /// The text before an @ is not the host, even if it looks like one.
    private static func origin(of text: String) -> String? {
        let text = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return nil }
        let authority = text.dropFirst(scheme.count).prefix { !"/?#\\".contains($0) }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        return host.isEmpty ? nil : scheme + host
    }
}
