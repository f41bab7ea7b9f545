/// An endpoint's URL, to which paths and queries are appended; a query that it has already is kept.
struct Endpoint {
    private let base: Substring
    private let query: Substring?

    init(_ url: String) {
        let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        base = parts[0]
        query = parts.count > 1 ? parts[1] : nil
    }

    /// `path` must be fit for a URL; the values of `added` are escaped.
    func url(path: String = "", query added: [(name: String, value: String)] = []) -> String {
        let pairs = added.map { "\($0.name)=\(Self.escaped($0.value))" }
        let whole = (query.map { [String($0)] } ?? []) + pairs
        return base + path + (whole.isEmpty ? "" : "?" + whole.joined(separator: "&"))
    }

    /// RFC 3986 §2.1: everything but the unreserved characters as octets of UTF-8.
    private static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var octets: [UInt8] = []
        for octet in text.utf8 {
            if isUnreserved(octet) {
                octets.append(octet)
            } else {
                octets += [UInt8(ascii: "%"), digits[Int(octet >> 4)], digits[Int(octet & 0x0F)]]
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }

    private static func isUnreserved(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
