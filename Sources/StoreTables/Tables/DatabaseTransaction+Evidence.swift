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
            SELECT \(EvidenceColumn.table.columns) FROM evidence JOIN request ON request.seq = request_seq WHERE id = ?
            """
        let kept = try database.row(of: EvidenceColumn.table, sql: sql, [id.text]) { fields in
            KeptEvidence(
                issuerKey: try fields.optionalPublicKey(.issuerKey), text: try fields.optionalText(.text),
                decision: try fields.optionalBytes(.decision))
        }
        guard let kept, kept.issuerKey != nil, kept.text != nil, kept.decision != nil else {
            // What came after it was packed stands in the row.
            return try pastEvidence(of: id).with(kept)
        }
        return kept
    }

    package func keep(_ evidence: KeptEvidence, of id: RequestID) throws {
        try hold(.enrollmentOfRequest(id))
        let bytes = database.dialect.bytes
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
                evidence.issuerKey?.subjectPublicKeyInfo, evidence.text, evidence.decision, id.text,
            ])
    }
}

extension KeptEvidence {
    /// What has a value in other evidence takes the place of what is here.
    fileprivate func with(_ other: KeptEvidence?) -> KeptEvidence {
        KeptEvidence(
            issuerKey: other?.issuerKey ?? issuerKey, text: other?.text ?? text, decision: other?.decision ?? decision)
    }
}
