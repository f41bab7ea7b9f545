import Keys

/// Public keys, signatures, and keys that are sealed at rest.
enum KeyChecks {
    private static let message = Array("message".utf8)
    private static let keys = Result { try SignatureAlgorithm.allCases.map { try SigningKey.generate($0) } }
    private static let secret = Result { try AgentSecret.generate() }

    static func publicKey(_ input: [UInt8]) throws {
        guard let key = try? PublicKey(subjectPublicKeyInfo: input) else { return }
        try mustHold(key.subjectPublicKeyInfo == input, "a key has one encoding only")
        try mustHold(try PublicKey(key.material) == key, "a key is its bytes")
        try mustHold(key.pem.utf8.count <= 300, "a key is small")
        try mustHold(!(try key.isValid(signature: input, over: message)), "a key is no signature")
    }

    static func pin(_ input: [UInt8]) throws {
        let pin: PIN
        do throws(PINError) {
            pin = try PIN(Secret(input))
        } catch {
            return try mustBeOneLine(error.description, "an error")
        }
        try mustHold(pin.secret == Secret(input), "a PIN is kept byte for byte")
        let text = String(validating: input, as: UTF8.self)
        try mustHold(text.map { PIN.characters.contains($0.unicodeScalars.count) } == true, "it has 4 to 64 characters")
        try mustHold(!input.contains { $0 < 0x20 || $0 == 0x7F }, "it has no control character")
    }

    static func keyURI(_ input: [UInt8]) throws {
        let uri: KeyURI
        do throws(KeyURIError) {
            uri = try KeyURI(input.text)
        } catch {
            return try mustBeOneLine(error.description, "an error")
        }
        try mustHold(uri.text.utf8.elementsEqual(input), "a key's URI is kept byte for byte")
        switch uri.place {
        case .file(let path): try mustHold(path.hasPrefix("/") && !path.utf8.contains(0), "a path is absolute")
        case .tpm(let handle): try mustHold(handle.number >> 24 == 0x81, "a handle is a persistent one")
        case .token: break
        }
    }

    /// No bytes are a signature of a key that has signed nothing.
    static func signature(_ input: [UInt8]) throws {
        for key in try keys.get().map(\.publicKey) {
            try mustHold(!(try key.isValid(signature: input, over: message)), "nobody signed this")
            try mustHold(!(try key.isValid(rawSignature: input, over: message)), "nobody signed this")
        }
    }

    /// The bytes are a sealed key, and once more what is in the seal.
    static func sealedKey(_ input: [UInt8]) throws {
        let secret = try secret.get()
        try mustHold((try? secret.open(input, label: "key")) == nil, "only the secret's holder seals")
        var sealed = try secret.seal(Secret(input), label: "key")
        try mustHold(try secret.open(sealed, label: "key") == Secret(input), "what was sealed opens to the same")
        try mustHold((try? secret.open(sealed, label: "other")) == nil, "a seal is for one label")
        let place = input.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % sealed.count
        sealed[place] ^= 1
        try mustHold((try? secret.open(sealed, label: "key")) == nil, "what was changed does not open")
    }
}
