package import Authenticator
import IssuerProtocol
import Keys
import TableRows

/// The columns of what is kept of a request for a dispute.
enum EvidenceColumn: Int, TableColumn {
    static let table = TableLayout<Self>("evidence", naming: .snakeCase)

    case issuerKey, text, decision
}

extension DatabaseTransaction {
    package func evidence(of id: RequestID) throws -> KeptEvidence {
        let sql = """
            SELECT \(EvidenceColumn.table.columns), \(OwnerColumn.table.qualifiedColumns)\(dataKeyColumn(of: "request.enrollment_id"))
            FROM evidence JOIN request ON request.seq = request_seq WHERE id = ?
            """
        let kept = try database.row(of: EvidenceColumn.table, sql: sql, [id.text]) { fields in
            let cipher = try cipher(EvidenceColumn.table, fields.joined(OwnerColumn.table))
            return KeptEvidence(
                issuerKey: try fields.optionalPublicKey(.issuerKey), text: try cipher.optionalText(fields, .text),
                decision: try cipher.optionalBytes(fields, .decision))
        }
        return kept ?? KeptEvidence()
    }

    package func keep(_ evidence: KeptEvidence, of id: RequestID) throws {
        try hold(.enrollmentOfRequest(id))
        let bytes = database.dialect.bytes
        let cipher = try cipher(of: id)
        try database.run(
            """
            INSERT INTO evidence (request_seq, issuer_key, text, decision)
            SELECT seq, CAST(? AS \(bytes)), CAST(? AS TEXT), CAST(? AS \(bytes)) FROM request WHERE id = ?
            ON CONFLICT (request_seq) DO UPDATE SET
                issuer_key = COALESCE(excluded.issuer_key, evidence.issuer_key),
                text = COALESCE(excluded.text, evidence.text),
                decision = COALESCE(excluded.decision, evidence.decision)
            """,
            [
                evidence.issuerKey?.subjectPublicKeyInfo, try cipher.closed(evidence.text, EvidenceColumn.text),
                try cipher.closed(evidence.decision, EvidenceColumn.decision), id.text,
            ])
    }

    private func cipher(of id: RequestID) throws -> RowCipher {
        guard sealing.dataKeys != nil else { return .plain }
        // Of a request that is not there nothing is kept.
        guard let owner = try dataKeys.owner(of: id) ?? owner(of: id) else { return .plain }
        return try cipher(EvidenceColumn.table, row: id.text, of: owner)
    }

    private func owner(of id: RequestID) throws -> EnrollmentID? {
        try database.row(of: OwnerColumn.table, "WHERE id = ?", [id.text]) {
            try $0.value(.enrollmentId, EnrollmentID.init)
        }
    }
}
