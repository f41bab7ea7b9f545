import FoundationEssentials
import GRDB
import StrictJSON

/// A row that does not hold what this program writes.
struct RecordError: Error, CustomStringConvertible {
    let what: String
    var description: String { "the database holds what this program does not write: \(what)" }
}

extension Row {
    func bytes(_ column: String) -> [UInt8] {
        let data: Data = self[column]
        return Array(data)
    }

    func optionalBytes(_ column: String) -> [UInt8]? {
        let data: Data? = self[column]
        return data.map(Array.init)
    }

    func value(_ column: String) throws -> JSONValue? {
        guard let text: String = self[column] else { return nil }
        return try JSONReader.value(Array(text.utf8), limits: JSONLimits(maxBytes: 4_194_304))
    }

    func object(_ column: String) throws -> JSONObject {
        guard case .object(let object) = try value(column) else { throw RecordError(what: column) }
        return object
    }
}

extension JSONValue {
    /// As a column takes it.
    var text: String { String(decoding: serialized(), as: UTF8.self) }
}
