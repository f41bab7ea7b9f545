import IssuerProtocol
import Keys
package import Records
import TableRows

/// The column of a piece of evidence of a request: its message, its text or its decision.
///
/// A piece is appended once, so that it shares a page with pieces written at the same time. The request's row refers to
/// it by number. Only a newer message or another text overwrites a piece.
package enum PieceColumn: Int, TableColumn {
    static let table = TableLayout<Self>("evidence", naming: .snakeCase)

    case bytes

    /// A subquery for the piece that a column of `request` refers to, for a list of columns.
    static func piece(_ column: RequestColumn) -> String {
        "(SELECT bytes FROM evidence WHERE piece = request.\(RequestColumn.table.name(of: column)))"
    }

    static let message = piece(.messagePiece)
    static let text = piece(.textPiece)
    static let decision = piece(.decisionPiece)
}

/// The kinds of pieces.
///
/// The raw value is part of the place to which an encrypted piece is bound.
enum Piece: String {
    case message, text, decision

    /// The column of `request` that refers to the piece.
    fileprivate var column: String { "\(rawValue)_piece" }
}

/// The stored evidence of a request, before more of it is written.
struct KeptPieces {
    let owner: EnrollmentID
    /// The stored text, or `nil` if there is none that can be read.
    ///
    /// A new text then gets a new row.
    let text: [UInt8]?
}

/// The columns of a request that are read with its evidence.
private enum KeptColumn: Int, TableColumn {
    static let table = TableLayout<Self>("request", naming: .snakeCase)

    case id, enrollmentId, issuerKey, textPiece, decisionPiece
}

extension StoreReading {
    fileprivate static let evidence = """
        SELECT \(KeptColumn.table.columns), \(PieceColumn.text), \(PieceColumn.decision),
            \(dataKey(of: "request.enrollment_id"))
        FROM request WHERE id = ?
        """

    /// Returns the evidence of a request for a dispute.
    ///
    /// Empty if there is none.
    package func evidence(of id: RequestID) throws -> KeptEvidence {
        let kept = try database.row(of: KeptColumn.table, sql: Self.evidence, [id.text]) { fields in
            let text = fields.joined(PieceColumn.table)
            let decision = text.joined(PieceColumn.table)
            let key = decision.joined(DataKeyColumn.table)
            let owner = try fields.value(.enrollmentId, EnrollmentID.init)
            var kept = KeptEvidence()
            let isKeyReadable = try ifReadable { kept.issuerKey = try fields.optionalPublicKey(.issuerKey) } != nil
            let (hasText, hasDecision) = (try fields.piece(.textPiece) != nil, try fields.piece(.decisionPiece) != nil)
            if hasText {
                let bytes = try writtenBytes(cipher(.text, of: id, owner, key), text)
                kept.text = bytes.map { String(decoding: $0, as: UTF8.self) }
            }
            if hasDecision { kept.decision = try writtenBytes(cipher(.decision, of: id, owner, key), decision) }
            kept.isDamaged =
                !isKeyReadable || hasText && kept.text == nil || hasDecision && kept.decision == nil
            return kept
        }
        return kept ?? KeptEvidence()
    }

    fileprivate static let pieces = """
        SELECT \(KeptColumn.table.columns), \(PieceColumn.text), \(dataKey(of: "request.enrollment_id"))
        FROM request WHERE id = ?
        """

    fileprivate func pieces(of id: RequestID) throws -> KeptPieces? {
        try database.row(of: KeptColumn.table, sql: Self.pieces, [id.text]) { fields in
            let (text, owner) = (fields.joined(PieceColumn.table), try fields.value(.enrollmentId, EnrollmentID.init))
            let cipher = try cipher(.text, of: id, owner, text.joined(DataKeyColumn.table))
            return KeptPieces(
                owner: owner, text: try fields.piece(.textPiece) == nil ? nil : writtenBytes(cipher, text))
        }
    }

    func pieces(
        of request: RequestRecord, _ fields: Fields<RequestColumn>, _ text: Fields<PieceColumn>,
        _ dataKey: Fields<DataKeyColumn>
    ) throws -> KeptPieces {
        let cipher = try cipher(.text, of: request.id, request.enrollmentId, dataKey)
        return KeptPieces(
            owner: request.enrollmentId,
            text: try fields.optionalNumber(.textPiece) as Int64? == nil ? nil : writtenBytes(cipher, text))
    }

    /// Returns the cipher for a piece, from the data key that the same statement has selected.
    func cipher(
        _ piece: Piece, of id: RequestID, _ owner: EnrollmentID, _ dataKey: Fields<DataKeyColumn>
    ) throws -> RowCipher {
        try cipher(PieceColumn.table, row: piece.row(of: id), of: owner, dataKey)
    }
}

extension StoreTransaction {
    /// Stores evidence of a request for a dispute.
    ///
    /// Each value that is not `nil` replaces the stored one.
    package func keep(_ evidence: KeptEvidence, of id: RequestID) throws {
        try lock(.enrollmentOfRequest(id))
        // The evidence of a missing request is dropped.
        guard let kept = try written?.state.pieces[id] ?? pieces(of: id) else { return }
        written?.state.pieces[id] = nil
        if let key = evidence.issuerKey {
            try database.update(
                RequestColumn.table, set: [.issuerKey: key.subjectPublicKeyInfo], where: [.id: id.text])
        }
        if let text = evidence.text.map({ Array($0.utf8) }), text != kept.text {
            try put(text, .text, of: id, kept.owner, isNew: kept.text == nil)
        }
        if let decision = evidence.decision {
            try put(decision, .decision, of: id, kept.owner, isNew: true)
        }
    }

    /// Writes the pieces of a request whose row was just inserted.
    func insertPieces(of request: RequestRecord, _ evidence: KeptEvidence) throws {
        let pieces: [(Piece, [UInt8]?)] = [
            (.message, request.message.isEmpty ? nil : Array(request.message.utf8)),
            (.text, evidence.text.map { Array($0.utf8) }),
            (.decision, evidence.decision),
        ]
        for (piece, bytes) in pieces {
            if let bytes { try put(bytes, piece, of: request.id, request.enrollmentId, isNew: true) }
        }
    }

    /// Writes the newer message of a request.
    ///
    /// It overwrites the older one, unless that could not be read.
    func updateMessage(of request: RequestRecord) throws {
        let isLost = request.damage?.hasMessage == false
        try put(Array(request.message.utf8), .message, of: request.id, request.enrollmentId, isNew: isLost)
    }

    /// Deletes all pieces of the requests that match a condition.
    ///
    /// Their rows keep the numbers.
    func removePieces(ofRequests condition: String, _ values: StatementValues) throws {
        let columns = [RequestColumn.messagePiece, .textPiece, .decisionPiece].map { RequestColumn.table.name(of: $0) }
        let pieces = columns.map { "SELECT \($0) FROM request WHERE \(condition)" }.joined(separator: " UNION ALL ")
        try database.execute("DELETE FROM evidence WHERE piece IN (\(pieces))", values)
    }

    /// Writes a piece: appends it if it is new, else overwrites the older one.
    private func put(
        _ bytes: [UInt8], _ piece: Piece, of id: RequestID, _ owner: EnrollmentID, isNew: Bool
    ) throws {
        let closed = try cipher(PieceColumn.table, row: piece.row(of: id), of: owner).closed(bytes, PieceColumn.bytes)
        guard isNew else {
            return try database.execute(
                "UPDATE evidence SET bytes = ? WHERE piece = (SELECT \(piece.column) FROM request WHERE id = ?)",
                [closed, id.text])
        }
        // The database inserts the number itself, which saves a round trip.
        try database.execute("INSERT INTO evidence (bytes) VALUES (?)", [closed])
        try database.execute(
            "UPDATE request SET \(piece.column) = \(database.dialect.newestPiece) WHERE id = ?", [id.text])
    }
}

/// Runs `read`.
///
/// `nil` if the value is not as the agent wrote it, so that values read with it are still used.
func ifReadable<Value>(_ read: () throws -> Value) throws -> Value? {
    do { return try read() } catch is UnreadableRowError { return nil }
}

/// The bytes of a piece, which are never empty, or `nil` if they are not as the agent wrote them.
func writtenBytes(_ cipher: RowCipher, _ piece: Fields<PieceColumn>) throws -> [UInt8]? {
    guard let bytes = try ifReadable({ try cipher.bytes(piece, .bytes) }), !bytes.isEmpty else { return nil }
    return bytes
}

extension Piece {
    /// The piece's part of the place to which its encryption is bound.
    fileprivate func row(of id: RequestID) -> String { "\(id.text) \(rawValue)" }
}

extension Fields<KeptColumn> {
    /// The number of a piece, or `nil` if there is none.
    fileprivate func piece(_ column: KeptColumn) throws -> Int64? { try optionalNumber(column) }
}

extension RowCipher {
    func text(_ piece: Fields<PieceColumn>) throws -> String {
        guard let text = String(validating: try bytes(piece, .bytes), as: UTF8.self) else {
            throw piece.unreadable(.bytes)
        }
        return text
    }
}
