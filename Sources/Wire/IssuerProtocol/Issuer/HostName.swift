/// Rules for the host names and addresses that an issuer's URL may contain.
enum HostName {
    /// Returns whether a host is valid: lower-case labels (RFC 1123 §2.1), an IPv4 address, or `[::1]`.
    ///
    /// A label has letters, digits and hyphens.
    static func isValid(_ host: String) -> Bool {
        if isIPv6Loopback(host) { return true }
        let labels = labels(host)
        guard (1...253).contains(host.utf8.count), labels.allSatisfy(isLabel) else { return false }
        // If the last label is a number, browsers read the whole name as an IPv4 address (WHATWG URL §3.5).
        return !endsInNumber(labels) || isIPv4(host)
    }

    static func isAddress(_ host: String) -> Bool { isIPv6Loopback(host) || isIPv4(host) }

    static func isLoopback(_ host: String) -> Bool {
        host.utf8.elementsEqual("localhost".utf8) || isIPv6Loopback(host)
            || isIPv4(host) && host.utf8.starts(with: "127.".utf8)
    }

    private static func isIPv6Loopback(_ host: String) -> Bool { host.utf8.elementsEqual("[::1]".utf8) }

    private static func labels(_ host: String) -> [Substring] {
        host.split(separator: ".", omittingEmptySubsequences: false)
    }

    private static func isLabel(_ label: Substring) -> Bool {
        let isOfLabelCharacters = label.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
            default: false
            }
        }
        let hyphen = UInt8(ascii: "-")
        return isOfLabelCharacters && (1...63).contains(label.utf8.count)
            && label.utf8.first != hyphen && label.utf8.last != hyphen
    }

    private static func endsInNumber(_ labels: [Substring]) -> Bool {
        guard let last = labels.last else { return false }
        let isHexadecimal = last.hasPrefix("0x") && last.dropFirst(2).allSatisfy(\.isHexDigit)
        return isHexadecimal || last.allSatisfy(\.isNumber)
    }

    /// Returns whether a host is four decimal numbers without leading zeros.
    private static func isIPv4(_ host: String) -> Bool {
        let parts = labels(host)
        return parts.count == 4
            && parts.allSatisfy { part in
                UInt8(part).map { String($0).utf8.elementsEqual(part.utf8) } ?? false
            }
    }
}
