/// The URL of a payment instrument's icon.
///
/// It has the form that a client which fetches icons accepts. The agent fetches no icons.
enum IconURL {
    static func isValid(_ text: String) -> Bool {
        guard text.utf8.allSatisfy(isAllowed) else { return false }
        // Schemes and hosts are compared without regard to case (RFC 3986 §3.1, §3.2.2).
        let lower = text.lowercased()
        if let data = rest(of: lower, after: "data:image/") { return data.contains(",") && data.first != "," }
        if let rest = rest(of: lower, after: "https://") { return !host(authority(rest)).isEmpty }
        if let rest = rest(of: lower, after: "http://") { return HostName.isLoopback(host(authority(rest))) }
        return false
    }

    /// Returns the host of the URL, with its port if it has one.
    ///
    /// `nil` for a data URL.
    ///
    /// Text before an @ is not the host, even if it looks like one (RFC 3986 §3.2.1).
    static func origin(of text: String) -> String? {
        let lower = text.lowercased()
        guard let rest = rest(of: lower, after: "https://") ?? rest(of: lower, after: "http://") else { return nil }
        return authority(rest).split(separator: "@", omittingEmptySubsequences: false).last.map(String.init)
    }

    /// Returns whether a byte is printable ASCII that RFC 3986 does not exclude.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !#""<>\^`{|}"#.utf8.contains(byte)
    }

    private static func rest(of text: String, after prefix: String) -> Substring? {
        text.hasPrefix(prefix) ? text.dropFirst(prefix.utf8.count) : nil
    }

    /// Returns the authority at the start of a text (RFC 3986 §3.2).
    private static func authority(_ rest: Substring) -> Substring { rest.prefix { !"/?#".contains($0) } }

    /// Returns an authority without its port.
    ///
    /// If a user stands before the host, the result is not a loopback name.
    private static func host(_ authority: Substring) -> String {
        guard let colon = authority.lastIndex(of: ":"), authority[colon...].dropFirst().allSatisfy(\.isNumber) else {
            return String(authority)
        }
        return String(authority[..<colon])
    }
}
