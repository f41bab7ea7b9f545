import IssuerProtocol

/// To which hosts the sandbox pushes.
///
/// Whoever enrolls names the address, and the sandbox posts to it: beyond loopback that takes the operator's word, or
/// the sandbox could be made to call whatever it can reach.
package enum PushPolicy: Sendable {
    case loopbackOnly, anywhere

    func allows(_ endpoint: PushEndpoint) -> Bool {
        switch self {
        case .anywhere: true
        case .loopbackOnly: (try? IssuerURL(endpoint.origin))?.isLoopback ?? false
        }
    }

    func check(_ subscription: PushSubscription) throws(SandboxError) {
        guard allows(subscription.endpoint) else {
            throw .listed(
                .invalidRequest,
                "endpoint: this sandbox pushes to loopback only, unless it is started with --push-beyond-loopback")
        }
    }
}
