import StrictJSON
import TableRows
import ThreeDS

/// The warnings beside a transaction's text, as a column.
///
/// They keep the rules of the time at which the request came.
enum WarningColumn {
    private static let limits = JSONLimits(maxBytes: 65_536)

    /// Returns the warnings as a JSON array, or `nil` if there are none.
    static func value(_ warnings: [Warning]) -> [UInt8]? {
        guard !warnings.isEmpty else { return nil }
        return JSONValue.array(
            warnings.map { warning in
                .object([
                    "id": .string(warning.id), "message": .string(warning.message),
                    "severity": .string(warning.severity.rawValue),
                ])
            }
        ).serialized()
    }

    static func read(_ bytes: [UInt8]?, _ fields: Fields<RequestColumn>) throws -> [Warning] {
        guard let bytes else { return [] }
        do {
            guard case .array(let rows) = try JSONReader.value(bytes, limits: limits) else {
                throw fields.unreadable(.warnings)
            }
            return try rows.map { row in
                guard case .object(let object) = row,
                    let severity = Warning.Severity(rawValue: try object.string("severity"))
                else { throw fields.unreadable(.warnings) }
                return Warning(id: try object.string("id"), message: try object.string("message"), severity: severity)
            }
        } catch {
            throw fields.unreadable(.warnings)
        }
    }
}
