import IssuerProtocol
import Journal
import Keys
import Records
import Signing
import StoreTables
import WebAuthn

/// The key of a new enrollment, which the agent makes or which exists already.
extension Enroller {
    /// Returns the first of the issuer's `pubKeyCredParams` that the agent supports.
    ///
    /// Their order is the issuer's preference (WebAuthn Level 3 §5.4).
    ///
    /// An existing key has one algorithm, which must be among them.
    static func algorithm(
        of options: PublicKeyCredentialCreationOptions, at place: KeyPlace
    ) throws -> SignatureAlgorithm {
        let has = place.external.map { [$0.facts.publicKey.algorithm] } ?? SignatureAlgorithm.allCases
        let wanted = options.pubKeyCredParams.lazy.compactMap(SignatureAlgorithm.init(rawValue:))
        if let first = wanted.first(where: has.contains) { return first }
        let names = has.map(\.name).joined(separator: ", ")
        let whose = place.external.map { "the key \($0.uri.text)" } ?? "this agent"
        throw CommandError(.issuerRefused, "the issuer accepts no signature algorithm that \(whose) has (\(names))")
    }

    /// Inspects an existing key, and verifies that it signs.
    ///
    /// The first step is without a PIN: a key that an enrollment uses is refused, and no PIN is tried. The second step
    /// is with the PIN, which counts as any try does. The issuer is asked after both. So a guess costs a try, and a
    /// mistyped PIN or a token that is not plugged in costs no enrollment code.
    func keyPlace(_ parameters: EnrollmentParameters) async throws -> KeyPlace {
        guard let uri = parameters.keyURI else { return .own }
        do {
            let sighting = try await ports.externalKeys.sighting(uri)
            try await refuseIfUsed(uri, sighting)
            // During the inspection another caller may enroll the same key; `insert` accepts only one of the two.
            let inspect: @Sendable () async throws -> ExternalKey = {
                try await ports.externalKeys.inspect(uri, pin: parameters.pin)
            }
            let key =
                parameters.pin == nil
                ? try await inspect()
                : try await PINCheck(ports: ports.decision).tryPIN(PINTries.Subject(uri, sighting.identity), inspect)
            return .external(ExternalKey(uri: key.uri, facts: key.facts, identity: sighting.identity))
        } catch let failure as CustodyError {
            throw CommandError(failure)
        }
    }

    /// Refuses a key that an enrollment uses, in any spelling of its URI, as far as that shows without a PIN.
    private func refuseIfUsed(_ uri: KeyURI, _ sighting: KeySighting) async throws {
        for other in try await ports.store.read({ try $0.enrollmentsOfExternalKeys() }) {
            guard let key = other.key.external else { continue }
            let isSame =
                key.uri == uri || key.facts.publicKey == sighting.publicKey
                || key.identity == sighting.identity && key.uri.namesKey(of: uri)
            if isSame { throw CommandError(uri, usedBy: other) }
        }
    }

    /// Inserts an enrollment with its key and the request to its issuer, in one database transaction.
    ///
    /// The enrollment gets a unique name. A key is one credential (WebAuthn §6.2): two enrollments with the same key
    /// would share the approvals of one of them.
    ///
    /// - Throws: `CommandError` if another enrollment has the key, or has the name that a person chose.
    func insert(
        _ enrollment: Enrollment, with key: EnrolledKey, sending request: EnrollmentRequest, push: KeptSubscription?,
        as parameters: EnrollmentParameters
    ) async throws {
        try await ports.store.write { store in
            try ports.storeHealth.expectRoom()
            let now = ports.clock.now
            if let external = enrollment.key.external {
                let other = try store.enrollmentsOfExternalKeys().first {
                    $0.key.external?.facts.publicKey == external.facts.publicKey
                }
                if let other { throw CommandError(external.uri, usedBy: other) }
            }
            var name = enrollment.name
            if parameters.isNameChosen {
                try store.expectFreeName(name)
            } else {
                name = try EnrollmentName.free(name, isTaken: store.isNameTaken)
            }
            try store.insert(
                enrollment.begun(
                    as: name, publicKey: key.publicKey, sealedKey: key.sealed, sending: request.named(name).bytes))
            if let persona = parameters.persona { try store.setPersona(persona, of: enrollment.id) }
            if let push { try store.begin(push, at: now) }
        }
    }

    /// Makes the key if the agent is to make it, and opens it.
    func key(
        of enrollment: Enrollment, algorithm: SignatureAlgorithm, pin: PIN?
    ) async throws -> (enrolled: EnrolledKey, opened: any UnlockedKey) {
        let key: EnrolledKey
        switch enrollment.key {
        case .own:
            let made = try await ports.custody.makeKey(of: enrollment.id, algorithm: algorithm, pin: pin)
            key = EnrolledKey(publicKey: made.publicKey, sealed: made.sealed)
        case .external(let external): key = EnrolledKey(publicKey: external.facts.publicKey, sealed: nil)
        }
        let reference = KeyReference(
            of: enrollment.id, at: enrollment.key, registered: key.publicKey, sealed: key.sealed)
        return (key, try await ports.custody.unlock(reference, pin: pin))
    }
}

/// The key of a new enrollment.
struct EnrolledKey: Sendable {
    let publicKey: PublicKey
    /// The sealed private half, or `nil` if the agent did not make the key.
    let sealed: [UInt8]?
}
