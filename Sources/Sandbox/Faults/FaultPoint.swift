/// The calls of the issuer protocol that can be made to fail.
package enum FaultPoint: String, Sendable, CaseIterable {
    case discovery, jwks, enrollmentOptions, enroll, authenticator, unenroll, pushSubscription, fetch, decision

    static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
