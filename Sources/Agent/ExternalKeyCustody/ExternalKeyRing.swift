import Keys
import Records
import Signing

/// Keys that the agent did not make, with three serial queues: for key files, the TPM, and all PKCS #11 tokens.
///
/// So a token that does not answer blocks the keys on other tokens, but no keys in other places.
struct ExternalKeyRing: Sendable {
    private let keys: ExternalKeys
    private let files: TokenQueue
    private let tpm: TokenQueue
    private let tokens: TokenQueue

    init(_ keys: ExternalKeys, clock: any AgentClock) {
        self.keys = keys
        files = TokenQueue(clock: clock)
        tpm = TokenQueue(clock: clock)
        tokens = TokenQueue(clock: clock)
    }

    func sighting(_ uri: KeyURI) async throws -> KeySighting {
        let seen = try await call(uri) { [keys] in try keys.sighting(uri) }
        guard let digest = try? SHA256Digest.of(Array(seen.place.utf8)), let identity = KeyIdentity(bytes: digest)
        else {
            throw CustodyError(.unavailable, "the key \(uri.text): no digest can be made of it")
        }
        return KeySighting(identity: identity, publicKey: seen.publicKey)
    }

    func inspect(_ uri: KeyURI, pin: PIN?) async throws -> ExternalKey {
        ExternalKey(uri: uri, facts: try await proven(uri, pin: pin?.secret))
    }

    /// Proves that the key signs, with this PIN, and that it is the enrolled key.
    func unlock(_ key: ExternalKey, pin: PIN?) async throws -> any UnlockedKey {
        let found = try await proven(key.uri, pin: pin?.secret)
        guard found.publicKey == key.facts.publicKey else {
            throw CustodyError(ExternalKeyError(uri: key.uri, .replaced))
        }
        return UnlockedExternalKey(ring: self, key: key, pin: pin?.secret)
    }

    private func proven(_ uri: KeyURI, pin: Secret?) async throws -> ExternalKeyFacts {
        try await call(uri) { [keys] in try keys.proven(uri, pin: pin) }
    }

    fileprivate func signature(
        for permit: SigningPermit, with key: ExternalKey, pin: Secret?
    ) async throws -> [UInt8] {
        try await call(key.uri) { [keys] in
            try keys.signature(over: permit.bytes, with: key.uri, expecting: key.facts.publicKey, pin: pin)
        }
    }

    /// - Throws: `CancellationError` if the caller was cancelled. Then the result of a PIN attempt is unknown.
    ///   Otherwise `CustodyError`.
    private func call<Value: Sendable>(
        _ uri: KeyURI, _ call: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        do {
            return try await queue(of: uri).call(call)
        } catch let cancellation as CancellationError {
            throw cancellation
        } catch let error as ExternalKeyError {
            throw CustodyError(error)
        } catch let error as TokenQueueError {
            throw CustodyError(error, at: uri)
        } catch {
            throw CustodyError(.unavailable, "the key \(uri.text): \(error)")
        }
    }

    func queue(of uri: KeyURI) -> TokenQueue {
        switch uri.place {
        case .file: files
        case .tpm: tpm
        case .token: tokens
        }
    }
}

/// An external key for one decision.
///
/// It is closed after its proof and opened again for the signature, so that it does not stay open in between.
private struct UnlockedExternalKey: UnlockedKey {
    let ring: ExternalKeyRing
    let key: ExternalKey
    let pin: Secret?

    /// Whether a PIN was given.
    ///
    /// This value exists only after `ExternalKeys.proven` has verified the PIN, and that the key cannot be used without
    /// it.
    var verifiesUser: Bool { pin != nil }

    var publicKey: PublicKey { key.facts.publicKey }

    /// Returns at once: the key was proved when it was opened.
    func prove() {}

    func signature(for permit: SigningPermit) async throws -> [UInt8] {
        try await ring.signature(for: permit, with: key, pin: pin)
    }
}

extension CustodyError {
    init(_ error: TokenQueueError, at uri: KeyURI) {
        switch error {
        case .silent: self.init(.silent, "the key \(uri.text): \(error); a PIN that was given counts as tried")
        case .busy: self.init(.unavailable, "the key \(uri.text): \(error)")
        }
    }

    fileprivate init(_ error: ExternalKeyError) {
        let code: Code =
            switch error.reason {
            case .needsPIN: .needsPIN
            case .wrongPIN: .wrongPIN
            case .pinLocked: .pinLocked
            case .takesNoPIN: .takesNoPIN
            case .file, .unreadable, .noSuchKey, .ambiguous, .absent, .unsupported, .replaced, .notSetUp, .failed:
                .unavailable
            }
        self.init(code, error.description)
    }
}
