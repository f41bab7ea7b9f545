import Authenticator
import HTTPServing
import IssuerProtocol
import Keys
import PushReceiver

/// The push listener: its address, its certificate and its public URL.
struct PushListenerSettings {
    let address: ListenAddress
    let identity: ServerIdentity?
    /// Whether all senders have the address of a proxy.
    let isBehindProxy: Bool
    let settings: PushSettings

    /// Reads and checks the settings and files, and returns `nil` if the agent receives no pushes.
    static func read(_ source: SettingSource) throws(StartError) -> PushListenerSettings? {
        let behindProxy = try source.choice(.pushBehindProxy, allowed: ["true", "false"]) { $0 == "true" } ?? false
        let vapid = try source.choice(.pushVAPID, allowed: ["required", "upstream"]) { $0 } ?? "required"
        let identity = try identity(source)
        let pollInterval = Int64(try source.number(.pollIntervalWithPush))
        switch (source.find(.pushListen), source.find(.pushURL)) {
        case (nil, nil): return nil
        case (let listen?, nil): throw .missing(.pushURL, beside: listen)
        case (nil, let url?): throw .missing(.pushListen, beside: url)
        case (let listen?, let url?):
            let address = try address(listen, isPlain: identity == nil, behindProxy)
            let settings = try settings(url, isUpstream: vapid == "upstream", pollInterval)
            return PushListenerSettings(
                address: address, identity: identity, isBehindProxy: behindProxy, settings: settings)
        }
    }

    private static func address(
        _ found: SettingSource.Found, isPlain: Bool, _ behindProxy: Bool
    ) throws(StartError) -> ListenAddress {
        guard let address = ListenAddress(found.value, hosts: .addresses) else {
            throw StartError(
                found.status, "\(found.place): must be ADDRESS:PORT or [ADDRESS]:PORT, with an IP address or localhost")
        }
        guard address.isLoopback || !isPlain || behindProxy else {
            throw StartError(
                .config,
                "\(found.place): plain HTTP is allowed on loopback only: set push-tls-cert and push-tls-key, or "
                    + "push-behind-proxy if a proxy in front speaks TLS")
        }
        return address
    }

    private static func settings(
        _ found: SettingSource.Found, isUpstream: Bool, _ pollInterval: Int64
    ) throws(StartError) -> PushSettings {
        do throws(ProtocolError) {
            return try PushSettings(url: found.value, isVAPIDUpstream: isUpstream, pollInterval: pollInterval)
        } catch {
            throw StartError(found.status, "\(found.place): \(error.what)")
        }
    }

    private static func identity(_ source: SettingSource) throws(StartError) -> ServerIdentity? {
        guard let files = try KeyPairFiles.read(source, certificate: .pushTLSCert, key: .pushTLSKey) else { return nil }
        do throws(ServerIdentity.Refusal) {
            return try unsafe files.secret.withBytes { bytes throws(ServerIdentity.Refusal) in
                try unsafe ServerIdentity(certificate: files.chain, key: Array(bytes))
            }
        } catch {
            throw files.refusal(ofCertificate: error.part == .certificate, "\(error)")
        }
    }
}
