import FoundationEssentials
import IssuerLink
import Keys

extension IssuerRoad {
    /// The largest file that is taken for a certificate chain or a key, in octets.
    private static let maxOctets = 1_048_576

    /// Reads and checks what the settings name; a fault tells the setting, and the file.
    init(_ source: SettingSource) throws(StartError) {
        self.init(identity: try Self.identity(source), proxy: try Self.proxy(source))
    }

    private static func proxy(_ source: SettingSource) throws(StartError) -> HTTPProxy? {
        guard let found = source.find(.proxy) else { return nil }
        do throws(HTTPProxy.Refusal) {
            return try HTTPProxy(found.value)
        } catch {
            throw StartError(found.status, "\(found.place): \(error)")
        }
    }

    private static func identity(_ source: SettingSource) throws(StartError) -> ClientIdentity? {
        switch (source.find(.clientCert), source.find(.clientKey)) {
        case (nil, nil): return nil
        case (let certificate?, nil): throw missing(.clientKey, beside: certificate)
        case (nil, let key?): throw missing(.clientCert, beside: key)
        case (let certificate?, let key?): return try identity(certificate, key)
        }
    }

    private static func missing(_ other: Setting, beside found: SettingSource.Found) -> StartError {
        StartError(found.status, "\(found.place): goes with \(other.rawValue), which is not set")
    }

    private static func identity(
        _ certificate: SettingSource.Found, _ key: SettingSource.Found
    ) throws(StartError) -> ClientIdentity {
        guard let chain = FileManager.default.contents(atPath: certificate.value), chain.count <= maxOctets else {
            throw StartError(
                .config, "\(certificate.place): \(certificate.value): there is no such file of at most 1 MiB to read")
        }
        let secret: Secret
        do throws(FileError) {
            secret = try SecretFile.read(key.value, maxOctets: maxOctets, privacy: .credential)
        } catch {
            throw StartError(.config, "\(key.place): \(error)")
        }
        do throws(ClientIdentity.Refusal) {
            return try unsafe secret.withOctets { octets throws(ClientIdentity.Refusal) in
                try unsafe ClientIdentity(certificate: Array(chain), key: Array(octets))
            }
        } catch {
            let found = error.part == .certificate ? certificate : key
            throw StartError(.config, "\(found.place): \(found.value): \(error)")
        }
    }
}
