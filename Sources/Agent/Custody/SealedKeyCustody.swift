package import Keys
package import Records
package import Signing

/// Private keys, sealed under the agent's secret.
///
/// No other file signs with a credential's key.
///
/// It makes and opens the keys. The store has them, each in the row of its enrollment.
package struct SealedKeyCustody: KeyCustody {
    private let secrets: SealingSecrets
    private let threads = SlowWork()

    package init(_ secrets: SealingSecrets) { self.secrets = secrets }

    package init(secret: AgentSecret) { self.init(SealingSecrets(secret)) }

    package func makeKey(of name: EnrollmentID, algorithm: SignatureAlgorithm, pin: PIN?) async throws -> MadeKey {
        let key = try SigningKey.generate(algorithm)
        return MadeKey(publicKey: key.publicKey, sealed: try await seal(key, of: name, pin: pin))
    }

    package func changePIN(of reference: KeyReference, from old: PIN, to new: PIN) async throws -> [UInt8] {
        try await seal(open(reference, pin: old), of: reference.enrollment, pin: new)
    }

    package func unlock(_ reference: KeyReference, pin: PIN?) async throws -> any UnlockedKey {
        UnlockedOwnKey(key: try await open(reference, pin: pin), verifiesUser: pin != nil)
    }

    package func opensAtOnce(_ reference: KeyReference, pin: PIN?) -> Bool {
        reference.place.external == nil && pin == nil
    }

    package func verify(_ reference: KeyReference) async throws(CustodyError) {
        let sealed = try sealed(reference)
        do throws(SealedKeyError) {
            try secrets.openKey { secret throws(SealedKeyError) in
                try secret.checkKey(sealed, label: Self.label(reference.enrollment))
            }
        } catch {
            throw CustodyError(error, of: reference.enrollment)
        }
    }

    package func isSame(_ one: [UInt8], as other: [UInt8], of name: EnrollmentID) -> Bool {
        do {
            let opened = try [one, other].map { try secrets.open($0, label: Self.label(name)) }
            return opened[0] == opened[1]
        } catch {
            return false
        }
    }

    private func seal(_ key: SigningKey, of name: EnrollmentID, pin: PIN?) async throws -> [UInt8] {
        let (secret, label) = (secrets.sealing, Self.label(name))
        guard pin != nil else { return try secret.seal(key, label: label) }
        return try await threads.call { try secret.seal(key, label: label, pin: pin) }
    }

    /// Opens a key; it needs the PIN exactly if the key has one.
    private func open(_ reference: KeyReference, pin: PIN?) async throws -> SigningKey {
        let (secrets, sealed, label) = (secrets, try sealed(reference), Self.label(reference.enrollment))
        let open: @Sendable () throws(SealedKeyError) -> SigningKey = { () throws(SealedKeyError) in
            // The seal is opened before the PIN, so a PIN is tried once only, even with two secrets.
            try secrets.openKey { secret throws(SealedKeyError) in try secret.openKey(sealed, label: label, pin: pin) }
        }
        do {
            return pin == nil ? try open() : try await threads.call { try open() }
        } catch let error as SealedKeyError {
            throw CustodyError(error, of: reference.enrollment)
        }
    }

    private func sealed(_ reference: KeyReference) throws(CustodyError) -> [UInt8] {
        if let key = reference.place.external { throw .notItsOwn(key.uri) }
        guard let sealed = reference.sealed else {
            throw CustodyError(.unavailable, "the enrollment \(reference.enrollment) has no key any more")
        }
        return sealed
    }

    private static func label(_ name: EnrollmentID) -> String { SealedUse.credentialKey(name).label }
}

/// A key of the agent's own, in memory for one decision.
private struct UnlockedOwnKey: UnlockedKey {
    let key: SigningKey
    /// Only a PIN verifies the user; a key without a PIN opens with the agent's secret, which no user gave.
    let verifiesUser: Bool

    var publicKey: PublicKey { key.publicKey }

    func prove() throws {
        guard try key.provesItself() else {
            throw CustodyError(.unavailable, "what the key signs does not hold under its public half")
        }
    }

    var signsAtOnce: Bool { true }

    func signature(for permit: SigningPermit) async throws -> [UInt8] { try key.signature(over: permit.bytes) }
}

extension CustodyError {
    fileprivate init(_ error: SealedKeyError, of name: EnrollmentID) {
        let code: Code =
            switch error {
            case .needsPIN: .needsPIN
            case .takesNoPIN: .takesNoPIN
            case .wrongPIN: .wrongPIN
            case .seal, .key: .unavailable
            }
        self.init(code, "key \(name.keyURI): \(error)")
    }
}
