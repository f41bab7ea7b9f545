package import Authenticator
import Dispatch
package import DurableFiles
import FoundationEssentials
package import Keys

/// Private keys under the agent's secret: the one file from which a credential's key signs.
///
/// They are in files, or the same bytes are in the store, with their enrollment: then this makes and opens them, and the
/// core keeps them. Each key stays where it was made.
package struct KeyFileCustody: KeyCustody, CopyableKeys {
    private let directory: String
    private let secret: AgentSecret
    private let newKeys: NewKeys
    private let threads = SlowWork()
    /// Here files are replaced and removed, one after the other: a key that was removed does not come back.
    private let changes = DispatchQueue(label: "key files")

    /// The caller holds the lock of the state directory: what a crash left half written is removed.
    ///
    /// - Parameters:
    ///   - directory: where the key files are; made with mode 0700 if it is missing.
    ///   - newKeys: where a key is to lie that is made from now on.
    package init(directory: String, secret: AgentSecret, newKeys: NewKeys = .inFiles) throws(FileError) {
        try PrivateDirectory.make(at: directory)
        try DurableFile.removeLeftovers(in: directory)
        self.directory = directory
        self.secret = secret
        self.newKeys = newKeys
    }

    /// Where the sealed bytes of a new key are to lie.
    package enum NewKeys: Sendable {
        case inFiles
        /// With their enrollment, so that every host that has the secret can use them.
        case inStore
    }

    package func makeKey(named name: EnrollmentID, algorithm: SignatureAlgorithm, pin: PIN?) async throws -> MadeKey {
        let key = try SigningKey.generate(algorithm)
        let sealed: [UInt8]? = try await threads.run { [self] in
            switch newKeys {
            case .inStore: return try secret.seal(key, label: Self.keyLabel(name), pin: pin)
            case .inFiles:
                try KeyFile.write(key, to: path(of: name), secret: secret, label: Self.keyLabel(name), pin: pin)
                return nil
            }
        }
        return MadeKey(publicKey: key.publicKey, sealed: sealed)
    }

    package func changePIN(of reference: KeyReference, from old: PIN, to new: PIN) async throws -> [UInt8]? {
        let (name, isStored) = (reference.enrollment, reference.sealed != nil)
        let key = try await read(reference, pin: old)
        return try await threads.run { [self] in
            if isStored { return try secret.seal(key, label: Self.keyLabel(name), pin: new) }
            try replace(key, of: name, pin: new)
            return nil
        }
    }

    package func unlock(_ reference: KeyReference, pin: PIN?) async throws -> any UnlockedKey {
        if let key = reference.place.external { throw CustodyError.notItsOwn(key.uri) }
        return UnlockedFile(key: try await read(reference, pin: pin), verifiesUser: pin != nil)
    }

    package func opensAtOnce(_ reference: KeyReference, pin: PIN?) -> Bool {
        reference.place.external == nil && pin == nil
    }

    package func check(_ reference: KeyReference) async throws(CustodyError) {
        let name = reference.enrollment
        do throws(KeyFileError) {
            if let sealed = reference.sealed {
                try KeyFile.check(sealed, in: name.uriOfStoredKey, secret: secret, label: Self.keyLabel(name))
            } else {
                try KeyFile.check(path: path(of: name), secret: secret, label: Self.keyLabel(name))
            }
        } catch {
            throw CustodyError(error)
        }
    }

    /// With its PIN exactly if it has one.
    private func read(_ reference: KeyReference, pin: PIN?) async throws -> SigningKey {
        let name = reference.enrollment
        do {
            if let sealed = reference.sealed { return try await open(sealed, of: name, pin: pin) }
            let (path, secret, label) = (path(of: name), secret, Self.keyLabel(name))
            guard pin == nil else {
                return try await threads.run {
                    try KeyFile.read(path: path, secret: secret, label: label, pin: pin).key
                }
            }
            let found = try KeyFile.read(path: path, secret: secret, label: label, pin: nil)
            // If it cannot be written, it is read again as it is, which only takes longer.
            if found.isOutdated { try? await threads.run { [self] in try replace(found.key, of: name, pin: nil) } }
            return found.key
        } catch let error as KeyFileError {
            throw CustodyError(error)
        }
    }

    private func open(_ sealed: [UInt8], of name: EnrollmentID, pin: PIN?) async throws -> SigningKey {
        let (place, secret, label) = (name.uriOfStoredKey, secret, Self.keyLabel(name))
        let open: @Sendable () throws -> SigningKey = {
            try KeyFile.open(sealed, in: place, secret: secret, label: label, pin: pin).key
        }
        return try await pin == nil ? open() : threads.run(open)
    }

    package func uri(of name: EnrollmentID) -> String { "file:\(path(of: name))" }

    package func removeKey(named name: EnrollmentID) async throws {
        try changes.sync { try KeyFile.remove(path: path(of: name)) }
    }

    package func keysInFiles() throws -> [EnrollmentID] {
        try FileManager.default.contentsOfDirectory(atPath: directory).compactMap { file in
            file.hasSuffix(Self.suffix) ? EnrollmentID(String(file.dropLast(Self.suffix.count))) : nil
        }
    }

    /// Puts a key in the place of its file, which is there; after a crash it is there in one of the two forms.
    private func replace(_ key: SigningKey, of name: EnrollmentID, pin: PIN?) throws {
        let label = Self.keyLabel(name)
        // Under a PIN that takes long, and a removal does not wait for it.
        let sealed = try secret.seal(key, label: label, pin: pin)
        try changes.sync {
            try KeyFile.check(path: path(of: name), secret: secret, label: label)
            try KeyFile.replace(sealed, at: path(of: name))
        }
    }

    /// What the store is to keep of a key that is in a file: the same key, sealed in the present form; nil if there is none.
    ///
    /// - Throws: `KeyFileError` if it is not in order.
    package func sealedForStore(_ name: EnrollmentID) throws -> [UInt8]? {
        let (path, label) = (path(of: name), Self.keyLabel(name))
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            let found = try KeyFile.read(path: path, secret: secret, label: label, pin: nil)
            return try secret.seal(found.key, label: label)
        } catch KeyFileError.needsPIN {
            return try KeyFile.bytes(of: path)
        }
    }

    /// Puts a key that a store kept into a file, with its PIN if it has one.
    package func keepInFile(_ sealed: [UInt8], of name: EnrollmentID) throws(KeyFileError) {
        try KeyFile.check(sealed, in: name.uriOfStoredKey, secret: secret, label: Self.keyLabel(name))
        try KeyFile.replace(sealed, at: path(of: name))
    }

    package func fileName(of name: EnrollmentID) -> String { name.text + Self.suffix }

    package func linkKeys(into directory: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: self.directory)
        where name.hasSuffix(Self.suffix) {
            try link("\(self.directory)/\(name)", as: "\(directory)/\(name)")
        }
    }

    private func link(_ path: String, as newPath: String) throws(FileError) {
        do throws(FileError) {
            try DurableFile.link(path, as: newPath)
        } catch  where error.reason == .exists || error.reason == .missing {
            // It is there already, or was removed meanwhile.
        }
    }

    private static let suffix = ".key"

    func path(of name: EnrollmentID) -> String { "\(directory)/\(fileName(of: name))" }

    private static func keyLabel(_ name: EnrollmentID) -> String { SealedUse.credentialKey(name).label }
}

/// A key of the agent's own, in memory for one decision.
private struct UnlockedFile: UnlockedKey {
    let key: SigningKey
    /// Only the PIN that was given opens the file; the secret, which opens one without, is the agent's and no user's.
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
    fileprivate init(_ error: KeyFileError) {
        let code: Code
        switch error {
        case .needsPIN: code = .needsPIN
        case .takesNoPIN: code = .takesNoPIN
        case .wrongPIN: code = .wrongPIN
        case .file, .seal, .key, .openSSL, .change: code = .unavailable
        }
        self.init(code, error.description)
    }
}
