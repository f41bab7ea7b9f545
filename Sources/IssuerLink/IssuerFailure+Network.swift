internal import AsyncHTTPClient
internal import Authenticator
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

extension IssuerFailure {
    static let cancelled = IssuerFailure.transient(reason: "the call was cancelled", retryAfter: nil)

    /// What went wrong below the protocol, in sentences of our own: the errors may quote what was sent or received.
    static func of(_ error: any Error, reading call: IssuerCall, retryAfter: Int64?) -> IssuerFailure {
        if error is CancellationError { return cancelled }
        if error is NIOTooManyBytesError {
            return .transient(
                reason: "the issuer's answer is larger than \(call.maxOctets) octets", retryAfter: retryAfter)
        }
        return .transient(reason: sentence(error), retryAfter: retryAfter)
    }

    private static func sentence(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError: sentence(error)
        case let error as NIOConnectionError: sentence(error)
        case let error as IOError: sentence(error)
        case NIOSSLError.handshakeFailed(let cause): sentence(cause)
        case is NIOSSLExtraError: "the issuer's certificate is not for its host name"
        case is NIOSSLError, is BoringSSLError: "the TLS connection to the issuer failed"
        case is HTTPParserError: "the issuer's answer is not HTTP"
        default: "the connection to the issuer failed (\(type(of: error)))"
        }
    }

    private static func sentence(_ error: HTTPClientError) -> String {
        switch error {
        case .cancelled, .requestStreamCancelled: "the call was cancelled"
        case .alreadyShutdown: "the agent is stopping"
        case .remoteConnectionClosed: "the issuer closed the connection before its answer was complete"
        case .connectTimeout: "the issuer did not take the connection in time"
        case .tlsHandshakeTimeout: "the TLS handshake with the issuer was not complete in time"
        case .getConnectionFromPoolTimeout: "all connections to the issuer were busy"
        default: "the HTTP client gave up (\(error.shortDescription))"
        }
    }

    /// Names without an address, or every address that was tried: the last speaks for them.
    private static func sentence(_ error: NIOConnectionError) -> String {
        guard let last = error.connectionErrors.last else { return "the issuer's host name was not found" }
        return sentence(last.error)
    }

    private static func sentence(_ error: IOError) -> String {
        switch error.errnoCode {
        case ECONNREFUSED: "the issuer refused the connection"
        case ECONNRESET, EPIPE: "the issuer broke the connection"
        case ENETUNREACH, EHOSTUNREACH: "there is no way to the issuer's network"
        case EMFILE, ENFILE: "there are too many open files for another connection"
        default: "the connection to the issuer failed (errno \(error.errnoCode))"
        }
    }

    private static func sentence(_ error: BoringSSLError) -> String {
        // The library has no case for it; its own name for the failure is part of the text.
        "\(error)".contains("CERTIFICATE_VERIFY_FAILED")
            ? "the issuer's certificate does not lead to a trusted root, or is not valid now"
            : "the TLS handshake with the issuer failed"
    }
}
