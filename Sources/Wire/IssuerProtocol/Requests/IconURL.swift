/// The URL of a payment instrument's icon.
///
/// It has the form that a client which fetches icons accepts. The agent fetches none.
enum IconURL {
    static func isValid(_ text: String) -> Bool {
        guard text.utf8.allSatisfy(isAllowed) else { return false }
        // Schemes and hosts are without regard to case (RFC 3986 §3.1, §3.2.2).
        let lower = text.lowercased()
        if let data = rest(of: lower, after: "data:image/") { return data.contains(",") && data.first != "," }
        if let rest = rest(of: lower, after: "https://") { return !host(authority(rest)).isEmpty }
        if let rest = rest(of: lower, after: "http://") { return HostName.isLoopback(host(authority(rest))) }
        return false
    }

    /// The host, with its port if one is named, that the URL leads to; nil for a data URL.
    ///
    /// What is before an @ is not the host, whatever it looks like (RFC 3986 §3.2.1).
    static func origin(of text: String) -> String? {
        let lower = text.lowercased()
        guard let rest = rest(of: lower, after: "https://") ?? rest(of: lower, after: "http://") else { return nil }
        return authority(rest).split(separator: "@", omittingEmptySubsequences: false).last.map(String.init)
    }

    /// Printable ASCII without what RFC 3986 excludes.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !#""<>\^`{|}"#.utf8.contains(byte)
    }

    private static func rest(of text: String, after prefix: String) -> Substring? {
        text.hasPrefix(prefix) ? text.dropFirst(prefix.utf8.count) : nil
    }

    /// RFC 3986 §3.2.
    private static func authority(_ rest: Substring) -> Substring { rest.prefix { !"/?#".contains($0) } }

    /// An authority without its port; with a user before the host it is no loopback host's name.
    private static func host(_ authority: Substring) -> String {
        guard let colon = authority.lastIndex(of: ":"), authority[colon...].dropFirst().allSatisfy(\.isNumber) else {
            return String(authority)
        }
        return String(authority[..<colon])
    }
}
