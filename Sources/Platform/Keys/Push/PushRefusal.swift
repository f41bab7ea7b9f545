/// The reason why a push message cannot be encrypted or decrypted.
///
/// It never contains any of the bytes.
package enum PushRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The body is above 4,096 bytes, or the plaintext and its padding are above 3,993.
    case tooLarge
    /// The body ends within the header, or has no whole record.
    case tooShort
    /// The record size is below 18, the minimum of RFC 8188 §2.1.
    case recordSize
    /// The body has more bytes after the first record.
    case manyRecords
    /// The key id is not the 65 bytes of an uncompressed point.
    case keyID
    /// The sender's key is not a point of P-256.
    case senderKey
    /// The message is for another subscription's key, or was changed: the two cannot be told apart.
    case ciphertext
    /// The delimiter 02 of a last record, before the zeros, is missing (RFC 8188 §2).
    case delimiter
    /// The cryptography of this machine failed, so the message could not be checked.
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
