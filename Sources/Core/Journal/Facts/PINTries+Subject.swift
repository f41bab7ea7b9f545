package import Keys
package import Records
import StrictJSON
import TextAndTime

extension PINTries {
    /// The enrollment or key that wrong PINs are counted for.
    ///
    /// It is the enrollment if the agent made its key, and the key if it existed already.
    package struct Subject: Sendable {
        enum Kind: Sendable {
            case enrollment(EnrollmentID)
            /// A key with one count for all enrollments through which the PIN is tried, or for none.
            ///
            /// So neither a second enrollment nor the end of one gives more tries.
            case key(KeyIdentity)
        }

        let kind: Kind
        /// The enrollment through which the PIN is tried, or `nil` if it is tried through none or that is not known.
        package let enrollment: EnrollmentID?
        /// The subject's name in messages.
        package let name: String

        package init(_ id: EnrollmentID, key: KeyIdentity? = nil) {
            kind = key.map(Kind.key) ?? .enrollment(id)
            enrollment = id
            name = "enrollment \(id)"
        }

        /// Creates the subject for a key, without the enrollment through which its PIN was tried.
        init(_ key: KeyIdentity) {
            kind = .key(key)
            enrollment = nil
            name = "the key \(Base64URL.encode(key.bytes))"
        }

        /// Creates the subject for a key that is to be enrolled.
        package init(_ uri: KeyURI, _ key: KeyIdentity) {
            kind = .key(key)
            enrollment = nil
            name = "the key \(uri.text)"
        }

        /// The key that the agent did not make, or `nil` for an enrollment's own count.
        package var key: KeyIdentity? {
            if case .key(let key) = kind { key } else { nil }
        }

        /// The members of an entry that identify the subject.
        var journaled: JSONObject {
            JSONObject().adding("enrollment", enrollment?.text).adding("key", key.map { Base64URL.encode($0.bytes) })
        }
    }
}
