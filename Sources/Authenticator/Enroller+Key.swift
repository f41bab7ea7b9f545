import Keys
import WebAuthn

/// The key of an enrollment that is begun: one that the agent makes, or one that is there already.
extension Enroller {
    /// The first of the issuer's `pubKeyCredParams` that the agent has: their order is the issuer's preference
    /// (WebAuthn Level 3 §5.4).
    ///
    /// A key that is there already has one, which must be among them.
    static func algorithm(
        of options: PublicKeyCredentialCreationOptions, at place: KeyPlace
    ) throws -> SignatureAlgorithm {
        let has = place.outside.map { [$0.facts.publicKey.algorithm] } ?? SignatureAlgorithm.allCases
        let wanted = options.pubKeyCredParams.lazy.compactMap(SignatureAlgorithm.init(rawValue:))
        if let first = wanted.first(where: has.contains) { return first }
        let names = has.map(\.name).joined(separator: ", ")
        let whose = place.outside.map { "the key \($0.uri.text)" } ?? "this agent"
        throw CommandFailure(.issuerRefused, "the issuer takes no signature algorithm that \(whose) has (\(names))")
    }

    func keyPlace(_ wish: EnrollmentWish) async throws -> KeyPlace {
        guard let uri = wish.keyURI else { return .own }
        do throws(KeyFailure) {
            return .outside(try await ports.custody.inspect(uri, pin: wish.pin))
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Puts it into the book, unless its key is another enrollment's: a key is one credential (WebAuthn §6.2), and two
    /// would share what one of them lets through.
    func insert(_ enrollment: Enrollment) async throws {
        try await ports.book.write { book in
            if let key = enrollment.key.outside {
                let other = try book.enrollments(includingEnded: false).first {
                    $0.key.outside?.facts.publicKey == key.facts.publicKey
                }
                if let other {
                    throw CommandFailure(
                        .alreadyEnrolled, "the key \(key.uri.text) is the enrollment \(other.id)'s: unenroll that first"
                    )
                }
            }
            try book.insert(enrollment)
        }
    }

    /// Has the key made where the agent makes it, and opens it.
    func key(
        of enrollment: Enrollment, _ algorithm: SignatureAlgorithm, _ pin: PIN?
    ) async throws -> (publicKey: PublicKey, opened: any UnlockedKey) {
        let publicKey: PublicKey
        switch enrollment.key {
        case .own:
            publicKey = try await ports.custody.makeKey(named: enrollment.id, algorithm: algorithm, pin: pin)
        case .outside(let key): publicKey = key.facts.publicKey
        }
        return (publicKey, try await ports.custody.unlock(enrollment.id, at: enrollment.key, pin: pin))
    }
}
