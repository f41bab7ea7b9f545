import IssuerProtocol
import Records
import TableRows

/// The reading of request rows.
extension StoreReading {
    private static let requests = """
        SELECT \(RequestColumn.table.columns), \(PieceColumn.message), \(dataKey(of: "request.enrollment_id")) FROM request
        """

    func requests(_ condition: String, _ arguments: StatementValues) throws -> [RequestRecord] {
        let sql = "\(Self.requests) \(condition)"
        return try database.rows(of: RequestColumn.table, sql: sql, arguments) { fields in
            let message = fields.joined(PieceColumn.table)
            return try record(fields, message, dataKey: message.joined(DataKeyColumn.table))
        }
    }

    /// - Parameters:
    ///   - piece: the message.
    ///   - dataKey: the data key of the request's enrollment.
    func record(
        _ fields: Fields<RequestColumn>, _ piece: Fields<PieceColumn>, dataKey: Fields<DataKeyColumn>
    ) throws -> RequestRecord {
        let id = try fields.value(.id, RequestID.init)
        let enrollment = try fields.value(.enrollmentId, EnrollmentID.init)
        var request = RequestRecord(
            id: id,
            enrollmentId: enrollment,
            jti: try fields.value(.jti, TokenID.init), iat: try fields.optionalTime(.iat),
            exp: try fields.optionalTime(.exp), presented: nil,
            acsTransId: try fields.optionalText(.acsTransId), message: "",
            traceparent: try fields.optionalText(.traceparent), receivedAt: try fields.time(.receivedAt),
            life: try LifeColumns.read(fields))
        // An unreadable message marks only its own request as damaged, so that requests read with it are still used.
        let message = try ifReadable { try self.message(of: request, fields, piece, dataKey) }
        let presented = try ifReadable {
            try message.flatMap { try self.presented($0, of: request, fields, piece, dataKey) }
        }
        // A pending request without a presented message is damaged too, because every pending request was presented.
        if let message, let presented, presented != nil || request.life.state != .pending {
            (request.message, request.presented) = (message, presented)
        } else {
            request.damage = .init(
                transactionDigest: try ifReadable { try fields.bytes(.transactionDigest) },
                hasMessage: message?.isEmpty == false)
        }
        request.decidedAt = try fields.optionalTime(.decidedAt)
        request.queuePlace = try fields.optionalNumber(.queuePlace)
        request.deliveryError = try fields.optionalText(.deliveryError)
        request.hasConflict = try fields.flag(.hasConflict)
        return request
    }

    /// Reads the message as received.
    ///
    /// Empty if it was erased.
    private func message(
        of request: RequestRecord, _ fields: Fields<RequestColumn>, _ piece: Fields<PieceColumn>,
        _ dataKey: Fields<DataKeyColumn>
    ) throws -> String {
        guard try fields.optionalNumber(.messagePiece) as Int64? != nil else { return "" }
        return try cipher(.message, of: request.id, request.enrollmentId, dataKey).text(piece)
    }

    /// Reads the presented form of a message.
    ///
    /// `nil` if none was presented, or if the message was erased.
    private func presented(
        _ message: String, of request: RequestRecord, _ fields: Fields<RequestColumn>, _ piece: Fields<PieceColumn>,
        _ dataKey: Fields<DataKeyColumn>
    ) throws -> PresentedRequest? {
        let hasMessage = try fields.optionalNumber(.messagePiece) as Int64? != nil
        guard hasMessage, try fields.flag(.isPresented) else { return nil }
        let cipher = try cipher(RequestColumn.table, row: request.id.text, of: request.enrollmentId, dataKey)
        return PresentedRequest(
            try piece.made(of: message, .bytes, KeptMessage.init),
            transactionDigest: try fields.bytes(.transactionDigest),
            warnings: try WarningColumn.read(cipher.optionalBytes(fields, .warnings), fields))
    }
}
