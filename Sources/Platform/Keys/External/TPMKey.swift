import COpenSSL
import Synchronization

/// Signatures by keys of the TPM, through the OpenSSL provider `tpm2` (Debian: tpm2-openssl).
///
/// The environment variable TPM2OPENSSL_TCTI says how the TPM is reached. The provider knows no other way.
enum TPMKey {
    enum Source {
        /// The bytes of a TSS2 file, which contains the key encrypted by the TPM.
        case file(Secret)
        case handle(PersistentHandle)
    }

    /// The process's only connection, for one user at a time, as the TPM itself works.
    ///
    /// It is kept because OpenSSL uses up library numbers, of which it has 255, each time it loads a provider.
    private static let connection = Mutex<ProviderContext?>(nil)

    static func sign(_ order: SigningOrder, with source: Source) throws(ExternalKeyError) -> SignedOutside {
        try connection.withLock { context throws(ExternalKeyError) in
            let answer = PassphraseAnswer(order.pin)
            let key = try order.only(of: keys(for: order, from: source, answer: answer, keeping: &context), answer)
            let publicKey = try order.publicKey(of: key)
            do throws(OpenSSLError) {
                let isExportable = try isExportable(key)
                let signature = try DigestContext(publicKey.algorithm).signature(by: key, over: order.message)
                let facts = ExternalKeyFacts(kind: .tpm, publicKey: publicKey, isExportable: isExportable)
                return SignedOutside(facts: facts, signature: signature)
            } catch {
                throw order.failure(TPMAnswer.reason(error, order, answer))
            }
        }
    }

    /// Returns the public half; loading a key tries no PIN.
    static func publicKey(_ order: SigningOrder, with source: Source) throws(ExternalKeyError) -> PublicKey {
        try connection.withLock { context throws(ExternalKeyError) in
            let answer = PassphraseAnswer(order.pin)
            let keys = try keys(for: order, from: source, answer: answer, keeping: &context)
            guard let key = keys.first, keys.count == 1 else {
                throw order.failure(.unreadable("it holds \(keys.count) private keys"))
            }
            return try order.publicKey(of: key)
        }
    }

    /// Reads the key, and tries a new connection once if the old one is lost.
    ///
    /// The TPM, or the service in front of it, may have been restarted since the last signature.
    private static func keys(
        for order: SigningOrder, from source: Source, answer: PassphraseAnswer,
        keeping context: inout ProviderContext?
    ) throws(ExternalKeyError) -> [PKey] {
        if let kept = context {
            do throws(OpenSSLError) {
                return try keys(for: order, from: source, answer: answer, in: kept)
            } catch  where TPMAnswer.isMissing(error) {
                context = nil
            } catch {
                throw order.failure(TPMAnswer.reason(error, order, answer))
            }
        }
        do throws(OpenSSLError) {
            let new = try ProviderContext()
            context = new
            return try keys(for: order, from: source, answer: answer, in: new)
        } catch {
            throw order.failure(TPMAnswer.reason(error, order, answer))
        }
    }

    private static func keys(
        for order: SigningOrder, from source: Source, answer: PassphraseAnswer, in context: ProviderContext
    ) throws(OpenSSLError) -> [PKey] {
        switch source {
        case .file(let bytes):
            return try KeyStore.keys(in: bytes, for: answer, home: context)
        case .handle(let handle):
            // The provider asks for the key's PIN if the URI ends in `?pass`.
            let query = order.pin == nil ? "" : "?pass"
            let uri = "handle:0x" + String(handle.number, radix: 16) + query
            return try KeyStore.keys(at: uri, for: answer, home: context)
        }
    }

    /// Returns whether a TPM's key can be duplicated to another TPM (fixedTPM clear).
    ///
    /// Returns `nil` if the provider does not say.
    private static func isExportable(_ key: PKey) throws(OpenSSLError) -> Bool? {
        let output = try MemoryBIO()
        // For a key of the TPM this prints only the public half and the attributes.
        try unsafe output.withPointer { output throws(OpenSSLError) in
            try unsafe key.withPointer { key throws(OpenSSLError) in
                try check("EVP_PKEY_print_private") { unsafe EVP_PKEY_print_private(output, key, 0, nil) }
            }
        }
        let text = output.text(maxBytes: 4_096)
        guard text.contains("Object Attributes:") else { return nil }
        return !text.contains("fixedTPM")
    }
}

/// The TPM's response codes, as the provider puts them into an error.
///
/// TPM 2.0 Library, Part 2, "TPM_RC"; TSS 2.0 Overview, "TSS2_RC": the layer is above the lower 16 bits.
private enum TPMAnswer {
    /// Returns whether the answer came from a layer above the TPM, not from the TPM itself.
    static func isMissing(_ error: OpenSSLError) -> Bool { error.dataNumber.map { $0 >> 16 != 0 } ?? false }

    static func reason(
        _ error: OpenSSLError, _ order: SigningOrder, _ answer: PassphraseAnswer
    ) -> ExternalKeyError.Reason {
        if answer.wasAsked && order.pin == nil { return .needsPIN }
        guard let code = error.dataNumber else {
            return error.reasons.contains { $0.contains("could not load the shared library") }
                ? .notSetUp("OpenSSL has no provider tpm2; install it (Debian: tpm2-openssl)")
                : .unreadable(error.description)
        }
        if isMissing(error) {
            return .absent("the TPM does not answer; check that it is there, and the setting tpm-tcti (\(error))")
        }
        if code == 0x921 { return .pinLocked }
        // The code without the number of its parameter, handle or session.
        switch code & 0xBF {
        case 0x8E, 0xA2: return order.pin == nil ? .needsPIN : .wrongPIN(.notTold)
        case 0x8B: return .noSuchKey
        case 0x9F: return .unreadable("it is damaged or of another TPM")
        default: return .failed("the TPM answered 0x\(String(code, radix: 16)) (\(error))")
        }
    }
}
