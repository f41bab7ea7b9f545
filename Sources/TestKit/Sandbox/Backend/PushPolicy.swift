import IssuerProtocol

/// The hosts to which the sandbox may push.
///
/// The enrolling client names the endpoint, and the sandbox posts to it. Endpoints beyond loopback need the operator's
/// consent. Without it, a client could make the sandbox call any host that the sandbox can reach.
package enum PushPolicy: Sendable {
    case loopbackOnly, anywhere

    func allows(_ endpoint: PushEndpoint) -> Bool {
        switch self {
        case .anywhere: true
        case .loopbackOnly: (try? IssuerURL(endpoint.origin))?.isLoopback ?? false
        }
    }

    func expectAllowed(_ subscription: PushSubscription) throws(SandboxError) {
        guard allows(subscription.endpoint) else {
            throw .listed(
                .invalidRequest,
                "endpoint: this sandbox pushes to loopback only, unless it is started with --push-beyond-loopback")
        }
    }
}
