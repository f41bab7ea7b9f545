/// The paths of the issuer protocol.
package enum ProtocolRoutes {
    package static let jwks = "/jwks.json"
    package static let enrollmentOptions = "/v1/enrollment-options"
    package static let enrollments = "/v1/enrollments"
    package static let authenticator = "/v1/authenticator"
    static let pushSubscription = authenticator + "/push-subscription"
    package static let authnRequests = "/v1/authn-requests"
    package static let batchFetch = "/v1/batch-fetch"
}
