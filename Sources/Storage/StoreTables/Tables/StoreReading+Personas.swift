package import Records
import TableRows

/// The columns of an enrollment's persona.
enum PersonaColumn: Int, TableColumn {
    static let table = TableLayout<Self>("persona", naming: .snakeCase)

    case enrollmentId, document
}

/// The columns of the script that is to answer a request.
enum ScriptColumn: Int, TableColumn {
    static let table = TableLayout<Self>("script", naming: .snakeCase)

    case rule, document
}

extension StoreReading {
    /// Returns the persona of an enrollment, as `Personas` wrote it, or `nil` if it has none.
    package func persona(of id: EnrollmentID) throws -> String? {
        try database.row(of: PersonaColumn.table, "WHERE enrollment_id = ?", [id.text]) { try $0.text(.document) }
    }

    /// Returns the personas of the next `limit` enrollments after `id`, by id.
    ///
    /// `nil` starts with the first one.
    package func personas(after id: EnrollmentID?, limit: Int) throws -> [(enrollment: EnrollmentID, document: String)]
    {
        let condition = "WHERE enrollment_id > ? ORDER BY enrollment_id LIMIT ?"
        return try database.rows(of: PersonaColumn.table, condition, [id?.text ?? "", limit]) { fields in
            (try fields.value(.enrollmentId, EnrollmentID.init), try fields.text(.document))
        }
    }

    /// Returns the script chosen for a request, as `Personas` wrote it, or `nil` if none was chosen.
    package func script(of id: RequestID) throws -> String? {
        let condition = "WHERE request_seq = (SELECT seq FROM request WHERE id = ?)"
        return try database.row(of: ScriptColumn.table, condition, [id.text]) { try $0.text(.document) }
    }

    /// Counts the requests for which a rule was chosen, by the rule's name, up to `limit`.
    package func scriptCount(ofRule name: String, upTo limit: Int) throws -> Int {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM script WHERE rule = ? LIMIT ?) AS counted"
        return Int(try database.number(sql, [name, limit]) ?? 0)
    }
}

extension StoreTransaction {
    /// Stores the persona that plays the cardholder of an enrollment.
    ///
    /// `nil` removes it.
    package func setPersona(_ document: String?, of id: EnrollmentID) throws {
        guard let document else {
            return try database.execute("DELETE FROM persona WHERE enrollment_id = ?", [id.text])
        }
        try database.insert(
            into: PersonaColumn.table, [.enrollmentId: id.text, .document: document],
            onConflict: "(enrollment_id) DO UPDATE SET document = excluded.document")
    }

    /// Stores the script for a request, and the name of the rule that chose it.
    ///
    /// It is deleted with the request.
    package func setScript(_ document: String, rule: String?, of id: RequestID) throws {
        try database.execute(
            """
            INSERT INTO script (request_seq, rule, document) SELECT seq, CAST(? AS TEXT), CAST(? AS TEXT) FROM request WHERE id = ?
            ON CONFLICT (request_seq) DO UPDATE SET rule = excluded.rule, document = excluded.document
            """, [rule, document, id.text])
    }
}
