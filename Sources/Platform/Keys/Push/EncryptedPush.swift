/// The body of a push message: the content coding `aes128gcm` (RFC 8188 §2) with one record (RFC 8291 §4).
///
/// salt (16) || record size (4) || 41 || sender's point (65) || ciphertext || tag (16).
struct EncryptedPush: Sendable, Equatable {
    /// The most bytes that a receiver must accept (RFC 8291 §4), and that this receiver accepts.
    static let limit = 4_096
    static let saltCount = 16
    static let headerCount = saltCount + 4 + 1 + PublicKeyMaterial.p256PointCount
    /// The bytes that encryption adds to a record: the delimiter and the tag.
    static let recordOverhead = 1 + CipherContext.tagCount
    static let least = headerCount + recordOverhead
    /// The smallest record size (RFC 8188 §2.1): a record of size 17 could carry no data.
    static let leastRecordSize = 18

    let salt: [UInt8]
    let senderPoint: [UInt8]
    /// The ciphertext and the tag, at least 17 bytes.
    let record: [UInt8]

    init(salt: [UInt8], senderPoint: [UInt8], record: [UInt8]) {
        self.salt = salt
        self.senderPoint = senderPoint
        self.record = record
    }

    init(_ body: [UInt8]) throws(PushRefusal) {
        guard body.count <= Self.limit else { throw .tooLarge }
        guard body.count >= Self.least else { throw .tooShort }
        let header = body.prefix(Self.headerCount)
        let recordSize = header[16..<20].reduce(0) { $0 << 8 | Int($1) }
        guard recordSize >= Self.leastRecordSize else { throw .recordSize }
        guard header[20] == PublicKeyMaterial.p256PointCount, header[21] == PublicKeyMaterial.uncompressed else {
            throw .keyID
        }
        guard body.count - header.count <= recordSize else { throw .manyRecords }
        salt = Array(header.prefix(Self.saltCount))
        senderPoint = Array(header.suffix(PublicKeyMaterial.p256PointCount))
        record = Array(body.dropFirst(header.count))
    }

    /// The body, with a record size that is greater than any record in it, as RFC 8291 §4 requires.
    var bytes: [UInt8] {
        let recordSize = [0, 0, UInt8(Self.limit >> 8), UInt8(Self.limit & 0xFF)]
        return salt + recordSize + [UInt8(PublicKeyMaterial.p256PointCount)] + senderPoint + record
    }
}
