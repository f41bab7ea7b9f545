import Records
import Signing

/// Whether a row that is held has the key that was asked.
extension Enrollment {
    /// Whether it has the key under the PIN that it had when it was read; a change of the secret may have sealed it anew.
    func hasKey(of read: Enrollment, in custody: any KeyCustody) -> Bool {
        if sealedKey == read.sealedKey { return true }
        guard let sealedKey, let before = read.sealedKey else { return false }
        return custody.isSame(sealedKey, as: before, of: id)
    }

    /// Throws if its key is another one than when it was read: under another PIN, or of an older row.
    func expectKey(of read: Enrollment, in custody: any KeyCustody, for request: RequestRecord? = nil) throws {
        guard !hasKey(of: read, in: custody) else { return }
        throw CommandError(
            .keyUnavailable, "nothing was done: the key of enrollment \(id) was changed meanwhile; ask again",
            request: request)
    }
}
