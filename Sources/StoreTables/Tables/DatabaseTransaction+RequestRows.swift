import Authenticator
import IssuerProtocol
import TableRows

/// Reads rows of requests.
extension DatabaseTransaction {
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
    ///   - dataKey: that of the request's enrollment.
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
        // Others are read with it: none of them waits for this one.
        let isReadable = try ifReadable { try takeMessage(of: &request, fields, piece, dataKey) } != nil
        // What is pending was presented.
        if !isReadable || request.life.state == .pending && request.presented == nil {
            request.damage = .init(transactionDigest: try ifReadable { try fields.bytes(.transactionDigest) })
        }
        request.decidedAt = try fields.optionalTime(.decidedAt)
        request.queuePlace = try fields.optionalNumber(.queuePlace)
        request.deliveryError = try fields.optionalText(.deliveryError)
        request.hasConflict = try fields.flag(.hasConflict)
        return request
    }

    /// Does nothing if the message was erased.
    private func takeMessage(
        of request: inout RequestRecord, _ fields: Fields<RequestColumn>, _ piece: Fields<PieceColumn>,
        _ dataKey: Fields<DataKeyColumn>
    ) throws {
        guard try fields.optionalNumber(.messagePiece) as Int64? != nil else { return }
        let (id, enrollment) = (request.id, request.enrollmentId)
        let message: String = try cipher(.message, of: id, enrollment, dataKey).text(piece)
        if try fields.flag(.isPresented) {
            let cipher = try cipher(RequestColumn.table, row: id.text, of: enrollment, dataKey)
            request.presented = PresentedRequest(
                try piece.made(of: message, .bytes, KeptMessage.init),
                transactionDigest: try fields.bytes(.transactionDigest),
                warnings: try WarningColumn.read(cipher.optionalBytes(fields, .warnings), fields))
        }
        request.message = message
    }
}
