import TextAndTime

/// The limits for a JSON text.
package struct JSONLimits: Sendable {
    /// The most bytes of the whole text.
    package let maxBytes: Int
    /// The most arrays and objects within one another; the reader's stack grows with it.
    ///
    /// The outermost array or object counts as 1.
    package let maxDepth: Int
    /// The most values of any kind, including the root and all containers.
    package let maxValues: Int

    package init(maxBytes: Int, maxDepth: Int = 16, maxValues: Int = 20_000) {
        self.maxBytes = maxBytes
        self.maxDepth = maxDepth
        self.maxValues = maxValues
    }
}

/// The reason why a text was not accepted as JSON.
package struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        case tooLarge(maxBytes: Int)
        case tooDeep(maxDepth: Int)
        case tooManyValues(maxValues: Int)
        /// The string that ends at the offset is not UTF-8.
        case notUTF8
        /// A name appears twice in its object; the text is its JSON pointer (RFC 6901).
        case duplicateName(String)
        case notAnObject
        /// The syntax is wrong; the text says what was expected.
        case syntax(String)
    }

    /// The offset of the error in bytes from the start.
    package let offset: Int
    package let reason: Reason

    package init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }

    package var description: String {
        switch reason {
        case .tooLarge(let limit): "JSON of more than \(limit) bytes"
        case .tooDeep(let limit): "JSON at byte \(offset): deeper than \(limit)"
        case .tooManyValues(let limit): "JSON at byte \(offset): more than \(limit) values"
        case .notUTF8: "JSON at byte \(offset): not UTF-8"
        case .duplicateName(let pointer): "JSON at byte \(offset): \(EscapedText.of(pointer)) appears twice"
        case .notAnObject: "JSON: must be an object"
        case .syntax(let expected): "JSON at byte \(offset): expected \(expected)"
        }
    }
}

/// A text that was read and may have duplicate names.
package struct JSONDocument: Sendable {
    /// The root, in which only the first of members with the same name is kept.
    package let root: JSONValue
    /// The JSON pointers (RFC 6901) of all duplicate names of the root, and of at most 16 deeper ones.
    package let duplicateNames: [String]
}

/// A strict reader of JSON (RFC 8259) within bounds.
///
/// It refuses a byte order mark, trailing data, bytes that are not UTF-8, unpaired surrogates, and every leniency such
/// as comments, `NaN` or leading zeros.
package enum JSONReader {
    /// Reads a text, and reports duplicate names instead of refusing them, for a caller that must list them.
    package static func document(_ bytes: [UInt8], limits: JSONLimits) throws(JSONError) -> JSONDocument {
        var parser = JSONParser(bytes, limits: limits, refusesDuplicateNames: false)
        let root = try parser.wholeText()
        return JSONDocument(root: root, duplicateNames: parser.duplicateNames)
    }

    /// Reads a value, and refuses duplicate names.
    package static func value(_ bytes: [UInt8], limits: JSONLimits) throws(JSONError) -> JSONValue {
        var parser = JSONParser(bytes, limits: limits, refusesDuplicateNames: true)
        return try parser.wholeText()
    }

    /// Reads an object, and refuses duplicate names and any other root.
    package static func object(_ bytes: [UInt8], limits: JSONLimits) throws(JSONError) -> JSONObject {
        guard case .object(let object) = try value(bytes, limits: limits) else {
            throw JSONError(offset: 0, reason: .notAnObject)
        }
        return object
    }
}
