import Authenticator
import FoundationEssentials
import IssuerProtocol
import Keys
import PushReceiver

/// Where pushes are taken, and what issuers see of it.
struct PushRoad {
    /// The largest file that is taken for a certificate chain or a key, in octets.
    private static let maxOctets = 1_048_576

    let address: ListenAddress
    let identity: ServerIdentity?
    let settings: PushSettings

    /// Reads and checks what the settings name; nil where pushes are not taken.
    static func read(_ source: SettingSource, _ bounds: Bounds) throws(StartError) -> PushRoad? {
        let behindProxy = try source.choice(.pushBehindProxy, allowed: ["true", "false"]) { $0 == "true" } ?? false
        let vapid = try source.choice(.pushVAPID, allowed: ["required", "upstream"]) { $0 } ?? "required"
        let identity = try identity(source)
        switch (source.find(.pushListen), source.find(.pushURL)) {
        case (nil, nil): return nil
        case (let listen?, nil): throw missing(.pushURL, beside: listen)
        case (nil, let url?): throw missing(.pushListen, beside: url)
        case (let listen?, let url?):
            let address = try address(listen, isPlain: identity == nil, behindProxy)
            let settings = try settings(url, isUpstream: vapid == "upstream", bounds)
            return PushRoad(address: address, identity: identity, settings: settings)
        }
    }

    private static func address(
        _ found: SettingSource.Found, isPlain: Bool, _ behindProxy: Bool
    ) throws(StartError) -> ListenAddress {
        guard let address = ListenAddress(found.value) else {
            throw StartError(
                found.status, "\(found.place): must be ADDRESS:PORT or [ADDRESS]:PORT, with an IP address or localhost")
        }
        guard address.isLoopback || !isPlain || behindProxy else {
            throw StartError(
                .config,
                "\(found.place): plain HTTP is taken on loopback only: set push-tls-cert and push-tls-key, or "
                    + "push-behind-proxy where a proxy in front speaks TLS")
        }
        return address
    }

    private static func settings(
        _ found: SettingSource.Found, isUpstream: Bool, _ bounds: Bounds
    ) throws(StartError) -> PushSettings {
        do throws(ProtocolError) {
            return try PushSettings(
                url: found.value, isVAPIDUpstream: isUpstream, pollInterval: bounds.pollIntervalWithPush,
                rates: bounds.pushRates)
        } catch {
            throw StartError(found.status, "\(found.place): \(error.what)")
        }
    }

    private static func identity(_ source: SettingSource) throws(StartError) -> ServerIdentity? {
        switch (source.find(.pushTLSCert), source.find(.pushTLSKey)) {
        case (nil, nil): return nil
        case (let certificate?, nil): throw missing(.pushTLSKey, beside: certificate)
        case (nil, let key?): throw missing(.pushTLSCert, beside: key)
        case (let certificate?, let key?): return try identity(certificate, key)
        }
    }

    private static func missing(_ other: Setting, beside found: SettingSource.Found) -> StartError {
        StartError(found.status, "\(found.place): goes with \(other.rawValue), which is not set")
    }

    private static func identity(
        _ certificate: SettingSource.Found, _ key: SettingSource.Found
    ) throws(StartError) -> ServerIdentity {
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
        do throws(ServerIdentity.Refusal) {
            return try unsafe secret.withOctets { octets throws(ServerIdentity.Refusal) in
                try unsafe ServerIdentity(certificate: Array(chain), key: Array(octets))
            }
        } catch {
            let found = error.part == .certificate ? certificate : key
            throw StartError(.config, "\(found.place): \(found.value): \(error)")
        }
    }
}
