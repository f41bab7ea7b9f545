import Authenticator
import IssuerProtocol
import StrictJSON
import TableRows
import ThreeDS

/// What is presented, as columns: the members as a JSON object in the order in which they came.
enum PresentedColumns {
    private static let limits = JSONLimits(maxBytes: 65_536)

    static func members(_ members: [TransactionMember]) -> [UInt8] {
        JSONValue.object(
            JSONObject(members.map { JSONObject.Member(name: $0.name, value: .string($0.value)) })
        ).serialized()
    }

    static func warnings(_ warnings: [Warning]) -> [UInt8] {
        JSONValue.array(
            warnings.map { warning in
                .object([
                    "id": .string(warning.id), "message": .string(warning.message),
                    "severity": .string(warning.severity.rawValue),
                ])
            }
        ).serialized()
    }

    static func payment(_ payment: PaymentExtension) -> [UInt8] { JSONValue.object(payment.json).serialized() }

    /// - Parameter cipher: of the row.
    static func read(_ fields: Fields<RequestColumn>, _ cipher: RowCipher) throws -> PresentedRequest? {
        guard let members = try cipher.optionalBytes(fields, .members) else { return nil }
        return PresentedRequest(
            transaction: try transaction(members, fields),
            payment: try payment(cipher.optionalBytes(fields, .payment), fields),
            transactionDigest: try fields.bytes(.transactionDigest),
            nonce: try cipher.bytes(fields, .nonce),
            warnings: try warnings(cipher.bytes(fields, .warnings), fields))
    }

    private static func payment(_ bytes: [UInt8]?, _ fields: Fields<RequestColumn>) throws -> PaymentExtension? {
        guard let bytes else { return nil }
        do {
            return try PaymentExtension(json: JSONReader.object(bytes, limits: limits))
        } catch {
            throw fields.unreadable(.payment)
        }
    }

    static func transaction(_ bytes: [UInt8], _ fields: Fields<RequestColumn>) throws -> Transaction {
        do {
            let members = try JSONReader.object(bytes, limits: limits).members.map { member in
                guard case .string(let value) = member.value else { throw fields.unreadable(.members) }
                return TransactionMember(name: member.name, value: value)
            }
            return try Transaction(members: members)
        } catch {
            throw fields.unreadable(.members)
        }
    }

    private static func warnings(_ bytes: [UInt8], _ fields: Fields<RequestColumn>) throws -> [Warning] {
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
