import StrictJSON

/// The tokens of a JSON pointer (RFC 6901 §4).
struct Place {
    let tokens: [String]

    init(_ pointer: String) throws {
        guard pointer.hasPrefix("/") else { throw CaseError("not a JSON pointer: \(pointer)") }
        tokens = pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { token in
            String(token.replacing("~1", with: "/").replacing("~0", with: "~"))
        }
    }
}

extension JSONValue {
    /// Returns a copy with `value` at the place, or without a value there.
    ///
    /// All parents of the last token must exist.
    func with(_ value: JSONValue?, at tokens: ArraySlice<String>) throws -> JSONValue {
        guard let token = tokens.first else { return value ?? .null }
        let rest = tokens.dropFirst()
        switch self {
        case .object(var object):
            guard rest.isEmpty || object[token] != nil else { throw CaseError("nothing at \(token)") }
            object[token] = rest.isEmpty ? value : try object[token]?.with(value, at: rest)
            return .object(object)
        case .array(var elements):
            guard let index = Int(token), elements.indices.contains(index) else { throw CaseError("no \(token)") }
            elements[index] = try elements[index].with(value, at: rest)
            return .array(elements)
        default:
            throw CaseError("nothing can stand under \(token)")
        }
    }

    func value(at tokens: ArraySlice<String>) -> JSONValue? {
        guard let token = tokens.first else { return self }
        guard case .object(let object) = self else { return nil }
        return object[token]?.value(at: tokens.dropFirst())
    }

    /// Returns JSON text with the members at these places written twice.
    func text(twice places: [[String]], at path: [String] = []) -> String {
        switch self {
        case .object(let object):
            let members = object.members.flatMap { member in
                let place = path + [member.name]
                let name = String(decoding: JSONValue.string(member.name).serialized(), as: UTF8.self)
                let text = name + ":" + member.value.text(twice: places, at: place)
                return places.contains(place) ? [text, text] : [text]
            }
            return "{" + members.joined(separator: ",") + "}"
        case .array(let elements):
            let texts = elements.enumerated().map { $1.text(twice: places, at: path + [String($0)]) }
            return "[" + texts.joined(separator: ",") + "]"
        default:
            return String(decoding: serialized(), as: UTF8.self)
        }
    }
}
