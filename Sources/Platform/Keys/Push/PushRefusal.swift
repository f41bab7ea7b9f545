/// Why bytes are no push message for this subscription.
///
/// Never carries any of them.
package enum PushRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// More than 4,096 bytes; to write, more than 3,993 with the padding.
    case tooLarge
    /// It ends within the header, or has no whole record.
    case tooShort
    /// A record size below 18, the least that RFC 8188 §2.1 knows.
    case recordSize
    /// There is more after the first record.
    case manyRecords
    /// The key id is not the 65 bytes of an uncompressed point.
    case keyID
    /// The sender's key is no point of P-256.
    case senderKey
    /// Another subscription's key, or bytes that were changed: the two cannot be told apart.
    case ciphertext
    /// After the padding of zeros no 02, which ends a last record (RFC 8188 §2).
    case delimiter
    /// The cryptography of this machine failed, so nothing is known about the message.
    case openSSL(OpenSSLError)

    /// A stable word for scripts and logs.
    package var token: String {
        switch self {
        case .tooLarge: "tooLarge"
        case .tooShort: "tooShort"
        case .recordSize: "recordSize"
        case .manyRecords: "manyRecords"
        case .keyID: "keyID"
        case .senderKey: "senderKey"
        case .ciphertext: "ciphertext"
        case .delimiter: "delimiter"
        case .openSSL: "cannotTell"
        }
    }

    package var description: String {
        switch self {
        case .tooLarge:
            "a push message has at most \(EncryptedPush.limit) bytes, \(PushRecipient.maxPlain) of them before encryption"
        case .tooShort: "the body ends before the \(EncryptedPush.least) bytes of a header and the smallest record"
        case .recordSize: "the record size must be at least \(EncryptedPush.leastRecordSize)"
        case .manyRecords: "the body must be one record, no longer than the record size"
        case .keyID: "the key id must be the sender's key, an uncompressed point of 65 bytes"
        case .senderKey: "the sender's key is not a point on P-256"
        case .ciphertext: "it was not encrypted for this subscription, or it was changed since"
        case .delimiter: "the record must end in 02 and zeros: it is the last one"
        case .openSSL(let cause): cause.description
        }
    }
}
