import IssuerLink
import Keys

extension OutboundNetwork {
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
        guard let files = try KeyPairFiles.read(source, certificate: .clientCert, key: .clientKey) else { return nil }
        do throws(ClientIdentity.Refusal) {
            return try unsafe files.secret.withBytes { bytes throws(ClientIdentity.Refusal) in
                try unsafe ClientIdentity(certificate: files.chain, key: Array(bytes))
            }
        } catch {
            throw files.refusal(ofCertificate: error.part == .certificate, "\(error)")
        }
    }
}
