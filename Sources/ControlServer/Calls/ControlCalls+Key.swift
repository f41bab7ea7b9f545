import Authenticator
import Control
import FoundationEssentials
import Keys

extension ControlCalls {
    /// The key of an enrollment: sealed, as it is stored, and its public half.
    func exportKey(of name: String, for client: ControlConnection) async throws -> Answer {
        let peer = ControlPeer(client.caller)
        let id = try await agent.enrollment(named: name).id
        let enrollment = try await quota.run(.exportKey, by: peer.uid, countsAlways: true) {
            try await agent.exportKey(of: id, for: peer)
        }
        return try .json(
            KeyExportView(
                id: id.text, keyUri: agent.keyURI(of: enrollment), publicKey: enrollment.credentialKey?.pem ?? "",
                sealedKey: enrollment.sealedKey.map(SealedKeyText.pem)))
    }
}

/// A sealed key as text.
enum SealedKeyText {
    private static let label = "OOB-AGENT SEALED KEY"

    /// In the textual encoding of RFC 7468 §2, under a label of its own: what is inside is no PKCS #8 until it is unsealed.
    static func pem(_ sealed: [UInt8]) -> String {
        let text = Data(sealed).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n"
    }
}
