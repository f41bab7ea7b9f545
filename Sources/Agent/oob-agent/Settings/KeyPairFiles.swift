import DurableFiles
import FoundationEssentials
import Keys

/// A certificate chain and its private key, from the files of two settings.
struct KeyPairFiles {
    /// The limit for either file, in bytes.
    private static let maxBytes = 1_048_576

    private let certificate: SettingSource.Found
    private let key: SettingSource.Found
    let chain: [UInt8]
    let secret: Secret

    /// Reads both files.
    ///
    /// `nil` if neither is set. An error names the setting and the file.
    static func read(
        _ source: SettingSource, certificate: Setting, key: Setting
    ) throws(StartError) -> KeyPairFiles? {
        switch (source.find(certificate), source.find(key)) {
        case (nil, nil): return nil
        case (let found?, nil): throw .missing(key, beside: found)
        case (nil, let found?): throw .missing(certificate, beside: found)
        case (let certificate?, let key?):
            try source.checkPath(certificate)
            try source.checkPath(key)
            return try KeyPairFiles(certificate, key)
        }
    }

    private init(_ certificate: SettingSource.Found, _ key: SettingSource.Found) throws(StartError) {
        guard let chain = FileManager.default.contents(atPath: certificate.value), chain.count <= Self.maxBytes else {
            throw StartError(
                .config,
                "\(certificate.place): \(certificate.value): the file is missing, unreadable or larger than 1 MiB")
        }
        do throws(FileError) {
            secret = try SecretFile.read(key.value, maxBytes: Self.maxBytes, privacy: .credential)
        } catch {
            throw StartError(.config, "\(key.place): \(error)")
        }
        self.certificate = certificate
        self.key = key
        self.chain = Array(chain)
    }

    /// The error for invalid content of one of the files.
    func refusal(ofCertificate isOfCertificate: Bool, _ problem: String) -> StartError {
        let found = isOfCertificate ? certificate : key
        return StartError(.config, "\(found.place): \(found.value): \(problem)")
    }
}

extension StartError {
    /// A setting that only makes sense with another one, which is not set.
    static func missing(_ other: Setting, beside found: SettingSource.Found) -> StartError {
        StartError(found.status, "\(found.place): goes with \(other.rawValue), which is not set")
    }
}
