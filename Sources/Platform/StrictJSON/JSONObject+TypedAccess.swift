import TextAndTime

// Typed access to members. A required member that is absent is an error. An optional member that is absent or null is
// `nil`. A member of another type or out of its bounds is always an error.
extension JSONObject {
    /// Returns a string whose number of UTF-8 bytes is in `bytes`.
    package func string(_ name: String, bytes: ClosedRange<Int> = 0...65_536) throws(JSONMemberError) -> String {
        try Self.string(present(name), name, bytes: bytes)
    }

    package func optionalString(
        _ name: String, bytes: ClosedRange<Int> = 0...65_536
    ) throws(JSONMemberError) -> String? {
        guard let value = given(name) else { return nil }
        return try Self.string(value, name, bytes: bytes)
    }

    /// Returns a whole number that is written as one, unlike `1.0`, `1e3` and `-0`.
    package func integer(
        _ name: String, in range: ClosedRange<Int64> = .min ... .max
    ) throws(JSONMemberError) -> Int64 {
        try Self.integer(present(name), name, in: range)
    }

    package func optionalInteger(
        _ name: String, in range: ClosedRange<Int64> = .min ... .max
    ) throws(JSONMemberError) -> Int64? {
        guard let value = given(name) else { return nil }
        return try Self.integer(value, name, in: range)
    }

    package func bool(_ name: String) throws(JSONMemberError) -> Bool { try Self.bool(present(name), name) }

    package func optionalBool(_ name: String) throws(JSONMemberError) -> Bool? {
        guard let value = given(name) else { return nil }
        return try Self.bool(value, name)
    }

    /// Returns an array whose number of elements is in `count`.
    package func array(
        _ name: String, count: ClosedRange<Int> = 0...20_000
    ) throws(JSONMemberError) -> [JSONValue] {
        try Self.array(present(name), name, count: count)
    }

    package func optionalArray(
        _ name: String, count: ClosedRange<Int> = 0...20_000
    ) throws(JSONMemberError) -> [JSONValue]? {
        guard let value = given(name) else { return nil }
        return try Self.array(value, name, count: count)
    }

    package func object(_ name: String) throws(JSONMemberError) -> JSONObject {
        try Self.object(present(name), name)
    }

    package func optionalObject(_ name: String) throws(JSONMemberError) -> JSONObject? {
        guard let value = given(name) else { return nil }
        return try Self.object(value, name)
    }

    /// Decodes base64url without padding (RFC 4648 §5) to a number of bytes in `bytes`.
    package func base64url(_ name: String, bytes: ClosedRange<Int>) throws(JSONMemberError) -> [UInt8] {
        try Self.base64url(present(name), name, bytes: bytes)
    }

    package func optionalBase64url(
        _ name: String, bytes: ClosedRange<Int>
    ) throws(JSONMemberError) -> [UInt8]? {
        guard let value = given(name) else { return nil }
        return try Self.base64url(value, name, bytes: bytes)
    }
}

extension JSONObject {
    private func present(_ name: String) throws(JSONMemberError) -> JSONValue {
        guard let value = self[name] else { throw Self.error(name, "is missing") }
        return value
    }

    private func given(_ name: String) -> JSONValue? {
        guard let value = self[name], value != .null else { return nil }
        return value
    }

    private static func error(_ name: String, _ problem: String) -> JSONMemberError {
        JSONMemberError(path: JSONPointer.text(of: [name]), problem: problem)
    }

    private static func string(
        _ value: JSONValue, _ name: String, bytes: ClosedRange<Int>
    ) throws(JSONMemberError) -> String {
        guard case .string(let text) = value else { throw error(name, "must be a string") }
        guard bytes.contains(text.utf8.count) else {
            throw error(name, "must have \(words(bytes)) bytes of UTF-8")
        }
        return text
    }

    private static func integer(
        _ value: JSONValue, _ name: String, in range: ClosedRange<Int64>
    ) throws(JSONMemberError) -> Int64 {
        guard case .number(let lexeme) = value, !lexeme.utf8.elementsEqual("-0".utf8),
            let number = Int64(lexeme), range.contains(number)
        else { throw error(name, "must be an integer of \(words(range))") }
        return number
    }

    private static func bool(_ value: JSONValue, _ name: String) throws(JSONMemberError) -> Bool {
        guard case .bool(let flag) = value else { throw error(name, "must be true or false") }
        return flag
    }

    private static func array(
        _ value: JSONValue, _ name: String, count: ClosedRange<Int>
    ) throws(JSONMemberError) -> [JSONValue] {
        guard case .array(let elements) = value else { throw error(name, "must be an array") }
        guard count.contains(elements.count) else { throw error(name, "must have \(words(count)) elements") }
        return elements
    }

    private static func object(_ value: JSONValue, _ name: String) throws(JSONMemberError) -> JSONObject {
        guard case .object(let object) = value else { throw error(name, "must be an object") }
        return object
    }

    private static func base64url(
        _ value: JSONValue, _ name: String, bytes: ClosedRange<Int>
    ) throws(JSONMemberError) -> [UInt8] {
        guard case .string(let text) = value, let decoded = Base64URL.decode(text), bytes.contains(decoded.count)
        else { throw error(name, "must be base64url without padding of \(words(bytes)) bytes") }
        return decoded
    }

    private static func words<Bound>(_ range: ClosedRange<Bound>) -> String {
        range.lowerBound == range.upperBound
            ? "exactly \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }
}
