import Records
import Signing

/// The check that a locked row still has the key that was opened.
extension Enrollment {
    /// Returns whether this row has the key and the PIN of the row that was read.
    ///
    /// A change of the secret may have sealed the same key anew.
    func hasKey(of read: Enrollment, in custody: any KeyCustody) -> Bool {
        if sealedKey == read.sealedKey { return true }
        guard let sealedKey, let before = read.sealedKey else { return false }
        return custody.isSame(sealedKey, as: before, of: id)
    }

    /// Throws if this row has another key than the row that was read: under another PIN, or of an older row.
    func expectKey(of read: Enrollment, in custody: any KeyCustody, for request: RequestRecord? = nil) throws {
        guard !hasKey(of: read, in: custody) else { return }
        throw CommandError(
            .keyUnavailable, "nothing was done: the key of enrollment \(id) was changed meanwhile; ask again",
            request: request)
    }
}
