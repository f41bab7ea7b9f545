import TextAndTime

/// The fields of a form in a browser's encoding (application/x-www-form-urlencoded).
package struct PageForm: Sendable {
    /// The limit of a form, in bytes.
    package static let maxBytes = 8_192
    private static let maxFields = 16

    private var fields: [String: String] = [:]

    /// Creates a form without fields.
    package init() {}

    /// Returns `nil` if the bytes are not such a form, have a name twice, or have more than 16 fields.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.maxBytes, let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let pairs = text.split(separator: "&")
        guard pairs.count <= Self.maxFields else { return nil }
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = Self.decoded(parts[0]), let value = Self.decoded(parts[1]),
                fields.updateValue(value, forKey: name) == nil
            else { return nil }
        }
    }

    package subscript(name: String) -> String? { fields[name] }

    private static func decoded(_ text: Substring) -> String? {
        let spaced = String(text.map { $0 == "+" ? " " : $0 })
        return PercentEncoding.decode(spaced).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
