import FoundationEssentials
import GRDB
import IssuerProtocol
import StrictJSON
import WebAuthn

/// Bytes that a column has as a BLOB.
@propertyWrapper struct Blob: Codable, DatabaseValueConvertible, Sendable {
    var wrappedValue: [UInt8]

    var databaseValue: DatabaseValue { Data(wrappedValue).databaseValue }

    static func fromDatabaseValue(_ value: DatabaseValue) -> Blob? {
        Data.fromDatabaseValue(value).map { Blob(wrappedValue: Array($0)) }
    }
}

/// A value that a column has as the text of its JSON.
protocol StoredJSON: Codable {
    init(stored: JSONValue) throws
    var stored: JSONValue { get }
}

extension StoredJSON {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        self = try Self(stored: JSONReader.value(Array(text.utf8), limits: JSONLimits(maxBytes: 4_194_304)))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stored.text)
    }
}

extension JSONValue: StoredJSON {
    init(stored: JSONValue) { self = stored }
    var stored: JSONValue { self }

    /// As a column takes it.
    var text: String { String(decoding: serialized(), as: UTF8.self) }
}

extension JSONObject: StoredJSON {
    init(stored: JSONValue) throws {
        guard case .object(let object) = stored else { throw UnreadableColumnError() }
        self = object
    }
    var stored: JSONValue { .object(self) }
}

extension PaymentExtension: StoredJSON {
    init(stored: JSONValue) throws { try self.init(json: JSONObject(stored: stored)) }
    var stored: JSONValue { .object(json) }
}

extension PushSubscription: StoredJSON {
    init(stored: JSONValue) throws { try self.init(json: JSONObject(stored: stored)) }
    var stored: JSONValue { .object(json) }
}

extension OfferedAlgorithms: StoredJSON {
    init(stored: JSONValue) throws {
        guard let algorithms = OfferedAlgorithms(stored) else { throw UnreadableColumnError() }
        self = algorithms
    }
    var stored: JSONValue { json }
}

/// JSON of a kind that the program cannot have written.
struct UnreadableColumnError: Error {}

extension UserVerificationRequirement: Codable {}
extension AttestationConveyance: Codable {}

/// A row of a table, as it is read and written: its properties are named like the columns.
protocol StoredRecord: Codable, FetchableRecord, PersistableRecord, Sendable {}

extension StoredRecord {
    /// The rows that a condition selects, such as `WHERE jti = ?`; the statement is compiled once.
    static func rows(_ db: Database, _ condition: String, _ values: StatementArguments = []) throws -> [Self] {
        try request(condition, values).fetchAll(db)
    }

    /// The first of these; `nil` if there is none.
    static func row(_ db: Database, _ condition: String, _ values: StatementArguments = []) throws -> Self? {
        try request(condition, values).fetchOne(db)
    }

    /// The only row of that id, to which another row refers.
    static func referred(_ db: Database, id: some DatabaseValueConvertible) throws -> Self {
        guard let row = try row(db, "WHERE id = ?", [id]) else {
            throw RecordError.recordNotFound(databaseTableName: databaseTableName, key: ["id": id.databaseValue])
        }
        return row
    }

    private static func request(_ condition: String, _ values: StatementArguments) -> SQLRequest<Self> {
        SQLRequest(sql: "SELECT * FROM \(databaseTableName) \(condition)", arguments: values, cached: true)
    }
}
