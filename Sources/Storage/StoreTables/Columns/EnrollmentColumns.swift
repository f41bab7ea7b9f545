import IssuerProtocol
import Records
import TableRows

/// The columns of an enrollment.
enum EnrollmentColumn: Int, TableColumn {
    static let table = TableLayout<Self>("enrollment", naming: .snakeCase)

    case id, issuer, rootsPEM, name, authnType, algorithm, rpId, credentialId, userHandle, startedAt, keyURI, keyKind,
        keyPublic, keyExportable, takesPush, signCount, state, body, authenticatorId, sealedToken, enrolledAt,
        signCountRaisedFrom, signCountRaisedTo, signCountRaisedAt, signCountRaisedElsewhere, endReason,
        endedAt, credentialKey, pinFailures, pinBlockedUntil, pinGuessable, keyIdentity, refusedSignCount, journalSeq,
        journalHost, sealedKey, nameBucket, version, pinEpoch, seal

    /// The columns that are encrypted under the enrollment's data key.
    static let personal: [EnrollmentColumn] = [.rootsPEM, .name, .userHandle, .keyURI, .body]
}

/// The personal values of an enrollment's row, decrypted.
///
/// A value that does not decrypt under the enrollment's data key is left out. That row is then damaged, but other rows
/// are still read.
struct PersonalValues {
    private(set) var rootsPEM: String?
    private(set) var name = ""
    private(set) var userHandle: [UInt8] = []
    private(set) var keyURI: String?
    /// The body, or `nil` if there is none.
    ///
    /// Empty if it does not decrypt.
    private(set) var body: [UInt8]?
    /// Whether every value has decrypted.
    private(set) var isWhole = true

    init(_ fields: Fields<EnrollmentColumn>, _ cipher: RowCipher) throws {
        for column in EnrollmentColumn.personal {
            let value = try fields.any(column)
            if value == .null { continue }
            guard case .bytes(let bytes)? = try? cipher.opened(value, column: EnrollmentColumn.table.name(of: column))
            else {
                isWhole = false
                if column == .body { body = [] }
                continue
            }
            switch column {
            case .rootsPEM: rootsPEM = String(decoding: bytes, as: UTF8.self)
            case .name: name = String(decoding: bytes, as: UTF8.self)
            case .keyURI: keyURI = String(decoding: bytes, as: UTF8.self)
            case .userHandle: userHandle = bytes
            default: body = bytes
            }
        }
    }
}

/// The state of an enrollment, as columns.
struct StateColumns {
    static let ended = "ended"

    let name: String
    package var body: [UInt8]?
    package var authenticatorId: String?
    package var sealedToken: [UInt8]?
    package var enrolledAt: Int64?

    init(_ state: EnrollmentState) {
        switch state {
        case .enrolling(let body):
            name = "enrolling"
            self.body = body
        case .active(let membership):
            name = "active"
            fill(membership)
        case .suspended(let membership):
            name = "suspended"
            fill(membership)
        case .ended(let authenticatorId):
            name = Self.ended
            self.authenticatorId = authenticatorId?.text
        }
    }

    private mutating func fill(_ membership: Membership) {
        authenticatorId = membership.authenticatorId.text
        sealedToken = membership.sealedToken
        enrolledAt = membership.enrolledAt
    }
}
