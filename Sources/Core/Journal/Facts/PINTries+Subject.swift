package import Keys
package import Records
import StrictJSON
import TextAndTime

extension PINTries {
    /// Enrollment whose key the agent made, or key that was there already: wrong PINs are counted of it.
    package struct Subject: Sendable {
        enum Kind: Sendable {
            case enrollment(EnrollmentID)
            /// Counted once, through whichever enrollment the PIN is tried, or none.
            ///
            /// So neither a second enrollment nor the end of one gives more tries.
            case key(KeyIdentity)
        }

        let kind: Kind
        /// The enrollment through which the PIN is tried; nil while none uses the key.
        package let enrollment: EnrollmentID?
        /// What messages call it.
        package let name: String

        package init(_ id: EnrollmentID, key: KeyIdentity? = nil) {
            kind = key.map(Kind.key) ?? .enrollment(id)
            enrollment = id
            name = "enrollment \(id)"
        }

        /// A key, through no enrollment.
        init(_ key: KeyIdentity) {
            kind = .key(key)
            enrollment = nil
            name = "the key \(Base64URL.encode(key.bytes))"
        }

        /// A key that is to be enrolled.
        package init(_ uri: KeyURI, _ key: KeyIdentity) {
            kind = .key(key)
            enrollment = nil
            name = "the key \(uri.text)"
        }

        /// A key that the agent did not make; nil for an enrollment's own count.
        package var key: KeyIdentity? {
            if case .key(let key) = kind { key } else { nil }
        }

        /// The members of a journal's entry that say what it is about.
        var journaled: JSONObject {
            JSONObject().adding("enrollment", enrollment?.text).adding("key", key.map { Base64URL.encode($0.bytes) })
        }
    }
}
