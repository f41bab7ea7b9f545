internal import AsyncHTTPClient
internal import Glibc
internal import IssuerProtocol
internal import LinuxProcess
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
import Records
internal import ServerCertificates

extension IssuerError {
    static let cancelled = IssuerError.transient(reason: "the call was cancelled", retryAfter: nil)
}

/// The error messages for failed connections to one issuer, and the proxy to it.
struct ConnectionDiagnosis: Sendable {
    let proxy: HTTPProxy?
    private let host: String
    private let showsIdentity: Bool

    init(to target: IssuerTarget, _ network: OutboundNetwork) {
        host = target.issuer.host
        proxy = network.proxy(to: target)
        showsIdentity = network.identity != nil
    }

    /// Maps a transport error to our own text: the error may quote bytes sent or received.
    func failure(_ error: any Error, reading call: IssuerCall, retryAfter: Int64?) -> IssuerError {
        if error is CancellationError { return .cancelled }
        if error is NIOTooManyBytesError {
            return .transient(
                reason: "the issuer's answer is larger than \(call.maxBytes) bytes", retryAfter: retryAfter)
        }
        return .transient(reason: sentence(error), retryAfter: retryAfter)
    }

    private func sentence(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError: sentence(error)
        case let error as NIOConnectionError: sentence(error)
        case let error as IOError: sentence(error)
        case NIOSSLError.handshakeFailed(let cause): sentence(cause)
        case let error as BoringSSLError: sentence(error)
        case is NIOSSLExtraError: "the issuer's certificate is not for \(host)"
        case is NoSubjectAltNameError:
            "the issuer's certificate has no subjectAltName: put \(host) there, as a name in CN alone does not count"
        case is NIOSSLError: "the TLS connection to the issuer failed"
        case is HeadGuard.TooLargeError:
            "the issuer's answer has more than \(HeadGuard.maxBytes) bytes of header fields"
        case is HTTPParserError: "the issuer's answer is not HTTP"
        default: "the connection to the issuer failed (\(type(of: error)))"
        }
    }

    private func sentence(_ error: HTTPClientError) -> String {
        switch error {
        case .cancelled, .requestStreamCancelled: "the call was cancelled"
        case .alreadyShutdown: "the agent is stopping"
        case .remoteConnectionClosed: "the issuer closed the connection before its answer was complete"
        case .connectTimeout: "there was no connection to \(peer) in time"
        case .tlsHandshakeTimeout: "the TLS handshake with the issuer was not complete in time"
        case .getConnectionFromPoolTimeout: "all connections to the issuer were busy"
        case .proxyAuthenticationRequired: "\(peer) asks for a user and password, which are not supported"
        case .invalidProxyResponse: "\(peer) does not let connections to \(host) through"
        case .httpProxyHandshakeTimeout: "\(peer) did not answer in time"
        default: "the HTTP client gave up (\(error.shortDescription))"
        }
    }

    /// Describes the last address's error.
    ///
    /// If no address was tried, describes the error of name resolution.
    private func sentence(_ error: NIOConnectionError) -> String {
        guard let last = error.connectionErrors.last else {
            // The resolver needs a descriptor too, and does not report that it got none.
            return Descriptors.areLeft() ? "the host name of \(peer) was not found" : noDescriptor
        }
        return sentence(last.error)
    }

    private func sentence(_ error: IOError) -> String {
        switch error.errnoCode {
        case ECONNREFUSED: "\(peer) refused the connection"
        case ECONNRESET, EPIPE: "\(peer) broke the connection"
        case ENETUNREACH, EHOSTUNREACH: "there is no route to \(peer)"
        case EMFILE, ENFILE: noDescriptorLeft(error.errnoCode)
        default: "the connection to \(peer) failed (errno \(error.errnoCode))"
        }
    }

    /// Matches BoringSSL's name of the failure in the error's text: swift-nio-ssl has no case for most failures.
    private func sentence(_ error: BoringSSLError) -> String {
        let text = "\(error)"
        let names: (String...) -> Bool = { $0.contains { text.contains($0) } }
        if names("CERTIFICATE_VERIFY_FAILED") {
            return "the issuer's certificate does not lead to a trusted root, or is not valid now"
        }
        if names("UNSUPPORTED_PROTOCOL", "ALERT_PROTOCOL_VERSION") {
            return "the issuer speaks neither TLS 1.2 nor TLS 1.3"
        }
        if names("WRONG_VERSION_NUMBER") { return "what answers at the issuer's address does not speak TLS" }
        if names(
            "CERTIFICATE_REQUIRED", "ALERT_BAD_CERTIFICATE", "ALERT_UNSUPPORTED_CERTIFICATE", "ALERT_UNKNOWN_CA",
            "ALERT_CERTIFICATE", "ALERT_ACCESS_DENIED")
        {
            return showsIdentity
                ? "the issuer refused the client certificate"
                : "the issuer asks for a client certificate: set client-cert and client-key"
        }
        // In TLS 1.2, handshake_failure may mean a missing client certificate (RFC 5246 §7.4.6).
        if names("ALERT_HANDSHAKE_FAILURE"), !showsIdentity {
            return "the issuer broke off the TLS handshake: it may ask for a client certificate"
        }
        return "the TLS handshake with the issuer failed"
    }

    private func noDescriptorLeft(_ code: CInt) -> String {
        Descriptors.noteRefusal(code)
        return noDescriptor
    }

    private var noDescriptor: String {
        "no descriptor is left for a connection to \(peer): raise the limit of open files"
    }

    /// The other end of the connection.
    private var peer: String { proxy.map { "the proxy \($0)" } ?? "the issuer" }
}
