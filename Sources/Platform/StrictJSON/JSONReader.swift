import TextAndTime

/// How much JSON a reader takes on.
package struct JSONLimits: Sendable {
    /// Bytes of the whole text.
    package let maxBytes: Int
    /// Arrays and objects within one another, the outermost being 1; the reader's stack grows with it.
    package let maxDepth: Int
    /// Values of any kind, the root and all containers counted.
    package let maxValues: Int

    package init(maxBytes: Int, maxDepth: Int = 16, maxValues: Int = 20_000) {
        self.maxBytes = maxBytes
        self.maxDepth = maxDepth
        self.maxValues = maxValues
    }
}

/// Why a text was not taken for JSON.
package struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        case tooLarge(maxBytes: Int)
        case tooDeep(maxDepth: Int)
        case tooManyValues(maxValues: Int)
        /// Bytes that are no UTF-8 in the string that ends at the offset.
        case notUTF8
        /// The JSON pointer (RFC 6901) of a name that appears twice in its object.
        case duplicateName(String)
        case notAnObject
        /// What was expected, in words.
        case syntax(String)
    }

    /// In bytes from the start.
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

/// A text that was read although names may appear twice in it.
package struct JSONDocument: Sendable {
    /// Of members with the same name the first is kept.
    package let root: JSONValue
    /// JSON pointers (RFC 6901): all of the root's own names that appear twice, and at most 16 deeper ones.
    package let duplicateNames: [String]
}

/// Reads JSON as RFC 8259 writes it and nothing beside it, within bounds.
///
/// Refused are a byte order mark, trailing data, bytes that are no UTF-8, surrogates without their other half, and
/// every leniency such as comments, `NaN` or leading zeros.
package enum JSONReader {
    /// Reports names that appear twice instead of refusing them, for a caller that must say which.
    package static func document(_ bytes: [UInt8], limits: JSONLimits) throws(JSONError) -> JSONDocument {
        var parser = JSONParser(bytes, limits: limits, refusesDuplicateNames: false)
        let root = try parser.wholeText()
        return JSONDocument(root: root, duplicateNames: parser.duplicateNames)
    }

    /// Refuses names that appear twice.
    package static func value(_ bytes: [UInt8], limits: JSONLimits) throws(JSONError) -> JSONValue {
        var parser = JSONParser(bytes, limits: limits, refusesDuplicateNames: true)
        return try parser.wholeText()
    }

    /// Refuses names that appear twice, and any root but an object.
    package static func object(_ bytes: [UInt8], limits: JSONLimits) throws(JSONError) -> JSONObject {
        guard case .object(let object) = try value(bytes, limits: limits) else {
            throw JSONError(offset: 0, reason: .notAnObject)
        }
        return object
    }
}
