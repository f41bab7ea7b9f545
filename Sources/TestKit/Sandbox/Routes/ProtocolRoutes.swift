import IssuerProtocol
import StrictJSON

extension ProtocolRoutes {
    /// The calls of the issuer protocol, and the controllers that answer them.
    static func all(of backend: IssuerBackend) -> [Route] {
        let own = AuthenticatorController(backend: backend)
        let push = PushSubscriptionController(backend: backend)
        return [
            Route("GET", Discovery.path, fault: .discovery) { _ in
                .json(200, try backend.site.get().discovery(vapidKey: backend.signer.vapidKey).json)
            },
            Route("GET", jwks, fault: .jwks) { _ in .json(200, backend.signer.keySet.json) },
            Route(
                "POST", enrollmentOptions, fault: .enrollmentOptions, handle: EnrollmentOptions(backend: backend).give),
            Route("POST", enrollments, fault: .enroll, handle: RegistrationController(backend: backend).accept),
            Route("GET", authenticator, fault: .authenticator, handle: own.status),
            Route("DELETE", authenticator, fault: .unenroll, handle: own.unenroll),
            Route("PUT", pushSubscription, fault: .pushSubscription, handle: push.replace),
            Route("DELETE", pushSubscription, fault: .pushSubscription, handle: push.unsubscribe),
            Route("GET", authnRequests, fault: .fetch, handle: FetchController(backend: backend).fetch),
            Route("POST", batchFetch, fault: .fetch, handle: BatchFetchController(backend: backend).fetch),
            Route(
                "POST", authnRequests + "/{}/decision", fault: .decision,
                handle: DecisionController(backend: backend).accept),
        ]
    }
}
