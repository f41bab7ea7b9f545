import Authenticator
import FoundationEssentials
import IssuerProtocol
import Records

/// The content of a notification that the app passed on.
enum PushPayload: Sendable {
    /// A Web Push (RFC 8030), as it came over HTTP.
    case webPush(path: String, fields: PushFields, body: [UInt8])
    /// The issuer's message, without encryption.
    case message(String)
    case unknown

    init(_ notification: [String: Any]) {
        let bytes = (notification["body"] as? Data).map { Array($0) } ?? notification["body"] as? [UInt8]
        if let path = notification["path"] as? String, let headers = notification["headers"] as? [String: String],
            let bytes
        {
            self = .webPush(path: path, fields: PushFields(headers.map { ($0.key, $0.value) }), body: bytes)
        } else if let message = notification["message"] as? String {
            self = .message(message)
        } else {
            self = .unknown
        }
    }
}

/// The push calls of the app.
struct PushWork: Sendable {
    let host: Host

    func update(_ token: String) async throws {
        do throws(ProtocolError) {
            try host.pushAddress.set(token)
        } catch {
            throw D1Error(.invalidArgument, "invalidArgument", "token: \(error)")
        }
        guard let enrollment = try await host.agent.active(at: host.setup.target.issuer) else { return }
        guard try await host.agent.resettlePush(of: enrollment.id) else {
            throw D1Error(.core, "issuerUnreachable", "the issuer could not be told yet; it is as soon as it answers")
        }
    }

    func process(_ payload: PushPayload) async throws -> [PushResponse.Key: String] {
        [.messageType: try await isTaken(payload) ? PushResponse.typeAuthn : PushResponse.typeUnknown]
    }

    private func isTaken(_ payload: PushPayload) async throws -> Bool {
        if case .unknown = payload { return false }
        guard let reception = host.agent.pushReception else { return false }
        // An authenticator without an enrollment has no endpoint, and no issuer whose messages could be verified.
        guard let enrollment = try await host.agent.active(at: host.setup.target.issuer) else {
            throw D1Error(.authnNotEnrolled, "notEnrolled", "there is no active enrollment at this issuer")
        }
        do throws(PushAnswer) {
            switch payload {
            case .unknown: return false
            case .webPush(let path, let fields, let body):
                _ = try await reception.receive(fields, body: body, at: try await reception.target(path))
                return true
            case .message(let message): return try await reception.receive(message: message, for: enrollment)
            }
        } catch {
            guard error != .unknownEndpoint else { return false }
            throw D1Error(
                error.code == .unavailable ? .core : .authn, error.reason, "the push was not taken: \(error.detail)")
        }
    }
}

/// The result of a push notification.
public struct PushResponse: Sendable {
    /// An authn request, which the app fetches next with `fetchAuthnRequest`.
    public static let typeAuthn = "authn"
    /// A message that this library does not know and has ignored.
    public static let typeUnknown = "unknown"
    /// Never used: this library does not support cards.
    public static let typeMessaging = "messaging"

    /// A key of the answer.
    public enum Key: Sendable, CaseIterable {
        /// The type of the message, as above, which is always present.
        case messageType
        /// Never present: this library does not support cards.
        case cardID
        /// Never present.
        case lastCallTimestamp
        /// Never present.
        case messageID
    }
}
