import FoundationEssentials
import GRDB
import IssuerProtocol
import StrictJSON
import WebAuthn

/// Bytes in a BLOB column.
@propertyWrapper struct Blob: Codable, DatabaseValueConvertible, Sendable {
    var wrappedValue: [UInt8]

    var databaseValue: DatabaseValue { Data(wrappedValue).databaseValue }

    static func fromDatabaseValue(_ value: DatabaseValue) -> Blob? {
        Data.fromDatabaseValue(value).map { Blob(wrappedValue: Array($0)) }
    }
}

/// A value that a column stores as JSON text.
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

    /// The text for a column.
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

/// JSON that the program cannot have written.
struct UnreadableColumnError: Error {}

extension UserVerificationRequirement: Codable {}
extension AttestationConveyance: Codable {}

/// A row of a table; its properties have the names of the columns.
protocol StoredRecord: Codable, FetchableRecord, PersistableRecord, Sendable {}

extension StoredRecord {
    /// Reads the rows that a condition selects, such as `WHERE jti = ?`; the compiled statement is cached.
    static func rows(_ db: Database, _ condition: String, _ values: StatementArguments = []) throws -> [Self] {
        try request(condition, values).fetchAll(db)
    }

    /// Reads the first row that a condition selects, or returns `nil` if there is none.
    static func row(_ db: Database, _ condition: String, _ values: StatementArguments = []) throws -> Self? {
        try request(condition, values).fetchOne(db)
    }

    /// Reads the row with an ID to which another row refers; throws if there is none.
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
