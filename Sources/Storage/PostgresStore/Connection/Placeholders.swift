#if PostgreSQL
/// A statement in which PostgreSQL's placeholders, `$1`, replace SQLite's, `?` and `?1`.
///
/// As in SQLite, a plain `?` has the number after the largest so far. A question mark inside quotation marks stays. Our
/// SQL has no operators with question marks, no comments and no dollar-quoted strings.
struct Placeholders: Equatable {
    let text: String

    /// The largest number of parameters in the protocol.
    static let limit = 65_535

    init(_ sql: String) throws(PostgresError) {
        var translated: [UInt8] = []
        var quote: UInt8?
        var largest = 0
        var rest = sql.utf8[...]
        while let byte = rest.popFirst() {
            guard byte != 0 else { throw PostgresError(message: "a statement has U+0000 in it") }
            if byte == quote {
                quote = nil
            } else if quote == nil, byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                quote = byte
            } else if quote == nil, byte == UInt8(ascii: "?") {
                let number = try Self.number(&rest) ?? largest + 1
                guard (1...Self.limit).contains(number) else { throw Self.refusal }
                largest = max(largest, number)
                translated += "$\(number)".utf8
                continue
            }
            translated.append(byte)
        }
        text = String(decoding: translated, as: UTF8.self)
    }

    /// Consumes and returns the digits at the start.
    ///
    /// Returns `nil` if there are none.
    private static func number(_ rest: inout Substring.UTF8View) throws(PostgresError) -> Int? {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !digits.isEmpty else { return nil }
        rest = rest[digits.endIndex...]
        // A number in range has at most five digits.
        guard digits.count <= 5, let number = Int(String(Substring(digits))) else { throw refusal }
        return number
    }

    private static var refusal: PostgresError {
        PostgresError(message: "a statement's placeholders must be ?1 to ?\(limit)")
    }
}
#endif
