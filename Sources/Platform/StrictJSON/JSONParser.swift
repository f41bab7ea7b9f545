import TextAndTime

/// A recursive descent parser that reads one text in one pass, bounded by its limits.
struct JSONParser {
    let bytes: [UInt8]
    let limits: JSONLimits
    let refusesDuplicateNames: Bool
    var position = 0
    private(set) var duplicateNames: [String] = []
    private var deeperDuplicates = 0
    private var values = 0
    /// The names and indices that lead to the current value; their number is the depth.
    private var path: [String] = []

    init(_ bytes: [UInt8], limits: JSONLimits, refusesDuplicateNames: Bool) {
        self.bytes = bytes
        self.limits = limits
        self.refusesDuplicateNames = refusesDuplicateNames
    }

    mutating func wholeText() throws(JSONError) -> JSONValue {
        guard bytes.count <= limits.maxBytes else {
            throw JSONError(offset: 0, reason: .tooLarge(maxBytes: limits.maxBytes))
        }
        skipWhitespace()
        let root = try value()
        skipWhitespace()
        guard position == bytes.count else { throw syntax("the end") }
        return root
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        values += 1
        guard values <= limits.maxValues else { throw error(.tooManyValues(maxValues: limits.maxValues)) }
        guard let byte = peek else { throw syntax("a value") }
        switch byte {
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        default: throw syntax("a value")
        }
    }

    private mutating func array() throws(JSONError) -> [JSONValue] {
        try open()
        var elements: [JSONValue] = []
        if skip("]") { return elements }
        repeat {
            skipWhitespace()
            path.append(String(elements.count))
            elements.append(try value())
            path.removeLast()
            skipWhitespace()
        } while skip(",")
        guard skip("]") else { throw syntax("',' or ']'") }
        return elements
    }

    private mutating func object() throws(JSONError) -> JSONObject {
        try open()
        var members: [JSONObject.Member] = []
        var names = SeenNames()
        var repeatedNames = Set<HashedBytes>()
        if skip("}") { return JSONObject(distinct: members) }
        repeat {
            skipWhitespace()
            guard peek == UInt8(ascii: "\"") else { throw syntax("a name") }
            let name = try string()
            path.append(name)
            let isNew = names.insert(name, after: members)
            if !isNew, repeatedNames.insert(HashedBytes(Array(name.utf8))).inserted { try reportDuplicate() }
            skipWhitespace()
            guard skip(":") else { throw syntax("':'") }
            skipWhitespace()
            let value = try value()
            if isNew { members.append(JSONObject.Member(name: name, value: value)) }
            path.removeLast()
            skipWhitespace()
        } while skip(",")
        guard skip("}") else { throw syntax("',' or '}'") }
        return JSONObject(distinct: members)
    }

    /// Steps into an array or object.
    private mutating func open() throws(JSONError) {
        guard path.count < limits.maxDepth else { throw error(.tooDeep(maxDepth: limits.maxDepth)) }
        position += 1
        skipWhitespace()
    }

    /// Reports a duplicate name.
    ///
    /// It makes a pointer only if the pointer is kept, because it can be as long as the text.
    private mutating func reportDuplicate() throws(JSONError) {
        guard !refusesDuplicateNames else { throw error(.duplicateName(JSONPointer.text(of: path))) }
        if path.count > 1 {
            guard deeperDuplicates < 16 else { return }
            deeperDuplicates += 1
        }
        duplicateNames.append(JSONPointer.text(of: path))
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        let expected = Array("\(text)".utf8)
        guard bytes[position...].starts(with: expected) else { throw syntax("\(text)") }
        position += expected.count
        return value
    }
}

/// The names of an object that is being read.
private struct SeenNames {
    /// The most names that are compared one by one, which takes less time than to hash them.
    private static let few = 16

    /// The names as bytes, empty while there are few.
    ///
    /// Swift's own hashing of strings follows Unicode equivalence; names are bytes here.
    private var hashed = Set<HashedBytes>()

    /// - Parameter members: the members whose names were new, each once.
    /// - Returns: whether the name is new.
    mutating func insert(_ name: String, after members: [JSONObject.Member]) -> Bool {
        guard members.count > Self.few else { return !members.contains { $0.name.hasBytes(of: name) } }
        if hashed.isEmpty { hashed = Set(members.map { HashedBytes(Array($0.name.utf8)) }) }
        return hashed.insert(HashedBytes(Array(name.utf8))).inserted
    }
}

// Functions that all parts of the grammar need.
extension JSONParser {
    var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Skips the white space of RFC 8259 §2: space, tab, line feed and carriage return.
    mutating func skipWhitespace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let byte = peek, UInt32(byte) == character.value else { return false }
        position += 1
        return true
    }

    func error(_ reason: JSONError.Reason) -> JSONError { JSONError(offset: position, reason: reason) }

    func syntax(_ expected: String) -> JSONError { error(.syntax(expected)) }
}
