import StrictJSON
import TextAndTime

/// Strict JSON (RFC 8259), its canonical form (RFC 8785) and base64url (RFC 4648).
enum JSONChecks {
    private static let limits = JSONLimits(maxBytes: 65_536, maxDepth: 16, maxValues: 2_000)

    static func json(_ input: [UInt8]) throws {
        let document = try? JSONReader.document(input, limits: limits)
        let value = try? JSONReader.value(input, limits: limits)
        try mustHold(
            value == (document?.duplicateNames.isEmpty == true ? document?.root : nil),
            "the reader that refuses names that stand twice takes all else that the other takes")
        guard let document else { return }
        let written = document.root.serialized()
        try mustHold(written.count <= input.count, "compact JSON is never longer than what was read")
        try mustHold(
            try JSONReader.value(written, limits: limits) == document.root, "what was written reads the same")
        try mustHold(depth(document.root) <= 16, "no more than 16 containers stand in one another")
        try mustHold(count(document.root) <= 2_000, "no more values are read than the limit")
        try canonical(document.root)
    }

    static func base64url(_ input: [UInt8]) throws {
        if let bytes = Base64URL.decode(input.text) {
            try mustHold(Array(Base64URL.encode(bytes).utf8) == input, "a value has one encoding only")
        }
        let encoded = Base64URL.encode(input)
        try mustHold(Base64URL.decode(encoded) == input, "what was encoded decodes to the same")
        try mustHold(Base64URL.decode(encoded + "=") == nil, "padding is refused")
    }

    private static func canonical(_ value: JSONValue) throws {
        guard let canonical = try? RFC8785.canonical(value) else { return }
        let again = try JSONReader.value(canonical, limits: limits)
        try mustHold(try RFC8785.canonical(again) == canonical, "the canonical form of a canonical form is itself")
        try mustHold(again.serialized() == canonical, "a canonical form is written as it was read")
    }

    private static func depth(_ value: JSONValue) -> Int {
        switch value {
        case .array(let elements): 1 + (elements.map(depth).max() ?? 0)
        case .object(let object): 1 + (object.members.map { depth($0.value) }.max() ?? 0)
        default: 0
        }
    }

    private static func count(_ value: JSONValue) -> Int {
        switch value {
        case .array(let elements): elements.reduce(1) { $0 + count($1) }
        case .object(let object): object.members.reduce(1) { $0 + count($1.value) }
        default: 1
        }
    }
}
