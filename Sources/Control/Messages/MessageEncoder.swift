import StrictJSON

/// Makes JSON of a message: members in the order of their names' bytes, those without a value left out.
///
/// Foundation's `JSONEncoder` writes the same bytes and takes ten times as long. Messages have text, whole numbers, truth
/// values, and arrays and objects of those: anything else is an error.
struct MessageEncoder: Encoder {
    /// What a message, or a part of one, has come to.
    final class Part {
        var value: JSONValue?
        fileprivate var members: [(name: String, part: Part)] = []
        fileprivate var elements: [Part] = []
        fileprivate var kind = Kind.single

        fileprivate enum Kind {
            case single, object, array
        }

        /// Nil if nothing was encoded.
        fileprivate var whole: JSONValue? {
            switch kind {
            case .single: return value
            case .array: return .array(elements.compactMap(\.whole))
            case .object:
                let sorted = members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
                return .object(
                    JSONObject(
                        distinct: sorted.compactMap { member in
                            member.part.whole.map { JSONObject.Member(name: member.name, value: $0) }
                        }))
            }
        }
    }

    fileprivate let part: Part
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// - Throws: `EncodingError` for what no message has.
    static func json(of message: some Encodable) throws -> JSONValue {
        let part = Part()
        try message.encode(to: MessageEncoder(part: part))
        return part.whole ?? .null
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        part.kind = .object
        return KeyedEncodingContainer(ObjectContainer<Key>(part: part))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        part.kind = .array
        return ArrayContainer(part: part)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleContainer(part: part) }
}

extension MessageEncoder {
    fileprivate static func unknown(_ value: Any) -> EncodingError {
        let context = EncodingError.Context(codingPath: [], debugDescription: "no message has a value of this type")
        return EncodingError.invalidValue(value, context)
    }

    /// JSON has no infinity, and none that is no number.
    fileprivate static func number(_ value: Double) throws -> JSONValue {
        guard value.isFinite else { throw unknown(value) }
        return .number("\(value)")
    }

    fileprivate static func encode(_ value: some Encodable, to part: Part) throws {
        try value.encode(to: MessageEncoder(part: part))
    }
}

/// One value.
private struct SingleContainer: SingleValueEncodingContainer {
    let part: MessageEncoder.Part
    let codingPath: [any CodingKey] = []

    func encodeNil() { part.value = .null }
    func encode(_ value: Bool) { part.value = .bool(value) }
    func encode(_ value: String) { part.value = .string(value) }
    func encode(_ value: Int) { part.value = .integer(Int64(value)) }
    func encode(_ value: Int64) { part.value = .integer(value) }
    func encode(_ value: UInt) { part.value = .number(String(value)) }
    func encode(_ value: Int8) throws { throw MessageEncoder.unknown(value) }
    func encode(_ value: Int16) throws { throw MessageEncoder.unknown(value) }
    func encode(_ value: Int32) throws { throw MessageEncoder.unknown(value) }
    func encode(_ value: UInt8) throws { throw MessageEncoder.unknown(value) }
    func encode(_ value: UInt16) throws { throw MessageEncoder.unknown(value) }
    func encode(_ value: UInt32) throws { throw MessageEncoder.unknown(value) }
    func encode(_ value: UInt64) throws { throw MessageEncoder.unknown(value) }
    func encode(_ value: Float) throws { throw MessageEncoder.unknown(value) }
    func encode(_ value: Double) throws { part.value = try MessageEncoder.number(value) }
    func encode<T: Encodable>(_ value: T) throws { try MessageEncoder.encode(value, to: part) }
}

private struct ObjectContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let part: MessageEncoder.Part
    let codingPath: [any CodingKey] = []

    private func add(_ key: Key) -> MessageEncoder.Part {
        let member = MessageEncoder.Part()
        part.members.append((key.stringValue, member))
        return member
    }

    private func set(_ value: JSONValue, _ key: Key) { add(key).value = value }

    func encodeNil(forKey key: Key) { set(.null, key) }
    func encode(_ value: Bool, forKey key: Key) { set(.bool(value), key) }
    func encode(_ value: String, forKey key: Key) { set(.string(value), key) }
    func encode(_ value: Int, forKey key: Key) { set(.integer(Int64(value)), key) }
    func encode(_ value: Int64, forKey key: Key) { set(.integer(value), key) }
    func encode(_ value: UInt, forKey key: Key) { set(.number(String(value)), key) }
    func encode(_ value: Int8, forKey key: Key) throws { throw MessageEncoder.unknown(value) }
    func encode(_ value: Int16, forKey key: Key) throws { throw MessageEncoder.unknown(value) }
    func encode(_ value: Int32, forKey key: Key) throws { throw MessageEncoder.unknown(value) }
    func encode(_ value: UInt8, forKey key: Key) throws { throw MessageEncoder.unknown(value) }
    func encode(_ value: UInt16, forKey key: Key) throws { throw MessageEncoder.unknown(value) }
    func encode(_ value: UInt32, forKey key: Key) throws { throw MessageEncoder.unknown(value) }
    func encode(_ value: UInt64, forKey key: Key) throws { throw MessageEncoder.unknown(value) }
    func encode(_ value: Float, forKey key: Key) throws { throw MessageEncoder.unknown(value) }
    func encode(_ value: Double, forKey key: Key) throws { set(try MessageEncoder.number(value), key) }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try MessageEncoder.encode(value, to: add(key)) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        MessageEncoder(part: add(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        MessageEncoder(part: add(key)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { MessageEncoder(part: part) }

    func superEncoder(forKey key: Key) -> any Encoder { MessageEncoder(part: add(key)) }
}

private struct ArrayContainer: UnkeyedEncodingContainer {
    let part: MessageEncoder.Part
    let codingPath: [any CodingKey] = []

    var count: Int { part.elements.count }

    private func add() -> MessageEncoder.Part {
        let element = MessageEncoder.Part()
        part.elements.append(element)
        return element
    }

    func encodeNil() { add().value = .null }
    func encode<T: Encodable>(_ value: T) throws { try MessageEncoder.encode(value, to: add()) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        MessageEncoder(part: add()).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { MessageEncoder(part: add()).unkeyedContainer() }

    func superEncoder() -> any Encoder { MessageEncoder(part: add()) }
}
