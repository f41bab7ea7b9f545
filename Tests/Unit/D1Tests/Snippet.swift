import D1

/// A payer who buys coffee and nothing else.
@MainActor
final class CoffeeDrinker: AuthnDelegate {
    func authn(
        _ authn: D1Authn, shouldConfirmTransactionData transactionData: [String: String],
        proceedHandler: @escaping () -> Void, cancelHandler: @escaping () -> Void
    ) {
        if transactionData["merchantName"] == "CoffeeHouse2" { proceedHandler() } else { cancelHandler() }
    }
}

/// Enrolls with a code of the issuer's, and has the payer decide what is pending then.
@MainActor
func buyCoffee(at issuer: String, code: @escaping @Sendable () async throws -> String, state: String) async throws {
    var components = D1Task.Components()
    components.d1ServiceURLString = issuer
    components.stateDirectory = state
    components.enrollmentCode = code
    components.pin = { prompt in "4831" }
    let task = components.task()
    try await task.configure()
    let payer = CoffeeDrinker()
    if let authn = task.d1Authn(payer) {
        if authn.enrolledAuthnType() == nil { try await authn.enrollAuthnCredentials(.platform) }
        try await authn.fetchAuthnRequest()
    }
    await task.close()
}
