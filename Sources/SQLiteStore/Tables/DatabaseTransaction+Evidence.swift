import Authenticator
import GRDB
import IssuerProtocol
import Keys

extension DatabaseTransaction {
    func evidence(of id: RequestID) throws -> KeptEvidence {
        let statement = try database.cachedStatement(
            sql: "SELECT evidence.* FROM evidence JOIN request ON request.seq = request_seq WHERE id = ?")
        guard let row = try Row.fetchOne(statement, arguments: [id.text]) else { return KeptEvidence() }
        let fields = Fields(table: "evidence", row: row)
        return KeptEvidence(
            issuerKey: try issuerKey(fields), text: fields.optionalText("text"),
            decision: fields.optionalBytes("decision"))
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

    private func issuerKey(_ fields: Fields) throws -> PublicKey? {
        guard let bytes = fields.optionalBytes("issuer_key") else { return nil }
        guard let key = try? PublicKey(subjectPublicKeyInfo: bytes) else { throw fields.unreadable("issuer_key") }
        return key
    }
}
