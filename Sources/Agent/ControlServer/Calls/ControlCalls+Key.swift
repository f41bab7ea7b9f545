import Authenticator
import Control
import FoundationEssentials
import Journal
import Keys
import Records

extension ControlCalls {
    /// Exports one half of an enrollment's key: the stored, sealed private key, or the public key.
    ///
    /// - Parameter isHead: whether the request is a HEAD. Then no part of the key leaves the agent, so the call is
    ///   neither recorded nor counted by the quota.
    func exportKey(
        _ half: KeyHalf, of name: String, for client: ControlConnection, isHead: Bool
    ) async throws -> Answer {
        let peer = ControlPeer(client.caller)
        let id = try await agent.enrollment(named: name).id
        let enrollment =
            if isHead {
                try await agent.keyToExport(half, of: id)
            } else {
                try await quota.counting(.exportKey, by: peer.uid, countsAlways: true) {
                    try await agent.exportKey(half, of: id, for: peer)
                }
            }
        return try .json(
            KeyExportView(
                id: id.text, keyUri: agent.keyURI(of: enrollment),
                publicKey: half == .public ? enrollment.credentialKey?.pem : nil,
                sealedKey: half == .sealed ? enrollment.sealedKey.map(SealedKeyText.pem) : nil))
    }
}

/// A sealed key as text.
enum SealedKeyText {
    private static let label = "OOB-AGENT SEALED KEY"

    /// Encodes a sealed key as PEM (RFC 7468 §2) with our own label.
    ///
    /// The content is not PKCS #8 until it is unsealed.
    static func pem(_ sealed: [UInt8]) -> String {
        let text = Data(sealed).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n"
    }
}
