package import IssuerProtocol
package import PageServing
import StrictJSON
import Synchronization

/// The issuer's address, as authenticators know it.
package struct IssuerSite: Sendable {
    package let issuer: IssuerURL
    /// The relying party ID (WebAuthn §5.4.2): the issuer's host.
    ///
    /// It is `localhost` on loopback. Any other IP address stays, and is not a valid RP ID.
    package let rpId: String
    /// The origins of the sandbox's pages, including the issuer's origin.
    let origins: Set<PageOrigin>

    /// - Parameter origins: further origins. The issuer's is added.
    package init(issuer: IssuerURL, origins: Set<PageOrigin> = []) {
        self.issuer = issuer
        self.origins = PageOrigin(issuer.text).map { origins.union([$0]) } ?? origins
        rpId = issuer.isLoopback ? "localhost" : issuer.host
    }

    /// The origin in registrations and assertions.
    package var origin: String { issuer.text }

    func discovery(vapidKey: VAPIDKey) -> Discovery {
        Discovery(
            issuer: issuer,
            jwksUri: issuer.text + ProtocolRoutes.jwks,
            enrollmentOptionsEndpoint: issuer.text + ProtocolRoutes.enrollmentOptions,
            enrollmentsEndpoint: issuer.text + ProtocolRoutes.enrollments,
            authnRequestsEndpoint: issuer.text + ProtocolRoutes.authnRequests,
            authenticatorEndpoint: issuer.text + ProtocolRoutes.authenticator,
            batchFetchEndpoint: issuer.text + ProtocolRoutes.batchFetch, vapidPublicKey: vapidKey.point)
    }
}

/// The site, set after the server has bound its port.
///
/// The system may choose the port.
package final class SiteHolder: Sendable {
    private let site: Mutex<IssuerSite?>

    package init(_ site: IssuerSite? = nil) { self.site = Mutex(site) }

    package func set(_ value: IssuerSite) { site.withLock { $0 = value } }

    func get() throws(SandboxError) -> IssuerSite {
        guard let site = site.withLock({ $0 }) else {
            throw SandboxError(status: 503, code: nil, detail: "the sandbox is starting")
        }
        return site
    }
}
