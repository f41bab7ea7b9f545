import Authenticator
import GRDB
import IssuerProtocol
import Keys
import TableRows

/// The columns of what is kept of a request for a dispute.
enum EvidenceColumn: Int, TableColumn {
    static let table = TableLayout<Self>("evidence", naming: .snakeCase)

    case issuerKey, text, decision
}

extension DatabaseTransaction {
    func evidence(of id: RequestID) throws -> KeptEvidence {
        let sql = """
            SELECT \(EvidenceColumn.table.columns) FROM evidence JOIN request ON request.seq = request_seq WHERE id = ?
            """
        let kept = try database.row(of: EvidenceColumn.table, sql: sql, [id.text]) { fields in
            KeptEvidence(
                issuerKey: try fields.optionalPublicKey(.issuerKey), text: try fields.optionalText(.text),
                decision: try fields.optionalBytes(.decision))
        }
        return kept ?? KeptEvidence()
    }

    func keep(_ evidence: KeptEvidence, of id: RequestID) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO evidence (request_seq, issuer_key, text, decision)
                SELECT seq, ?, ?, ? FROM request WHERE id = ?
                ON CONFLICT DO UPDATE SET issuer_key = COALESCE(excluded.issuer_key, issuer_key),
                    text = COALESCE(excluded.text, text), decision = COALESCE(excluded.decision, decision)
                """
        ).execute(arguments: [
            evidence.issuerKey?.subjectPublicKeyInfo.blob, evidence.text, evidence.decision?.blob, id.text,
        ])
    }
}
