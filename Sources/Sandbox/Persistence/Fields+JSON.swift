import StrictJSON
import TableRows

extension Fields {
    /// The value that a column has as text; nil if it has none.
    func json(_ column: Column) throws -> JSONValue? {
        try optionalText(column).map { text in
            try made(of: text, column) { try JSONReader.value(Array($0.utf8), limits: JSONLimits(maxBytes: 4_194_304)) }
        }
    }

    func optionalObject(_ column: Column) throws -> JSONObject? {
        switch try json(column) {
        case nil: nil
        case .object(let object): object
        default: throw unreadable(column)
        }
    }

    func object(_ column: Column) throws -> JSONObject {
        guard let object = try optionalObject(column) else { throw unreadable(column) }
        return object
    }
}

extension JSONValue {
    /// As a column takes it.
    var text: String { String(decoding: serialized(), as: UTF8.self) }
}
