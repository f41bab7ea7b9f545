/// A JSON value (RFC 8259) that was read or is to be written.
///
/// Equality is by bytes. Two strings that Unicode calls equivalent but that differ in encoding are different. Two
/// numbers are equal only if their lexemes are. The order of an object's members counts.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    /// The lexeme without change, such as `1.0` or `-12e3`: never a floating-point number.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// Makes a number as JSON writes it.
    package static func integer(_ value: Int64) -> JSONValue { .number(String(value)) }
}

extension JSONValue: Equatable {
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left.utf8.elementsEqual(right.utf8)
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

extension JSONValue: ExpressibleByNilLiteral {
    package init(nilLiteral: ()) { self = .null }
}

extension JSONValue: ExpressibleByBooleanLiteral {
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSONValue: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements.map { JSONObject.Member(name: $0.0, value: $0.1) }))
    }
}
