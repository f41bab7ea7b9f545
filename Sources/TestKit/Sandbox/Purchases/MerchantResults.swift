import StrictJSON

/// The merchant's view of an authentication: liability shift, and the results of two payment services' libraries.
///
/// The members `liabilityShifted` and `liabilityShiftPossible` come first. Then comes the same result as each library
/// would report it. All of it follows from the completion of the purchase, which is recorded once.
/// docs/reference/merchants.md says which parts are in the services' public documentation, and which are this sandbox's
/// own reading.
struct MerchantResults: Sendable {
    let profile: EMVProfile
    /// The completion, or `nil` while the purchase is pending.
    let completion: CompletionRecord?

    var json: JSONValue {
        var json: JSONObject = [
            "liabilityShifted": .bool(completion?.status == .authenticated), "liabilityShiftPossible": true,
        ]
        json["checkout"] = checkout?.json
        json["braintree"] = braintree.json
        return .object(json)
    }

    /// The result of Checkout.com's 3DS SDK.
    ///
    /// `nil` until there is a result, and for purchases without a challenge in an SDK.
    var checkout: CheckoutResult? {
        guard profile.channel == .app, profile.decoupled == nil, let completion else { return nil }
        return CheckoutResult(completion)
    }

    var braintree: BraintreeResult {
        guard let completion else { return BraintreeResult(transStatus: profile.decoupled == nil ? "C" : "D") }
        guard completion.status == .cancelled else { return BraintreeResult(transStatus: completion.transStatus) }
        return completion.reason == CompletionRecord.sdkTimedOut ? .timedOut : .canceled
    }
}

/// The result that Checkout.com's 3DS SDK returns to the merchant's app, once.
enum CheckoutResult: Equatable, Sendable {
    case successful
    /// The authentication was completed without success.
    case failed
    case error(Failure)

    /// The reasons for an authentication without a result, with the SDK's code for each.
    enum Failure: String, Sendable {
        /// The payer cancelled.
        case userCanceled
        /// The payer did not complete the challenge before the ACS or the SDK stopped waiting.
        case challengeTimedOut
        /// The ACS and the SDK did not understand each other's messages.
        case protocolError
    }

    init(_ completion: CompletionRecord) {
        self =
            switch (completion.status, completion.reason) {
            case (.authenticated, _): .successful
            case (_, CompletionRecord.invalidCReq?): .error(.protocolError)
            case (.notAuthenticated, _): .failed
            case (.expired, _), (.cancelled, CompletionRecord.sdkTimedOut?): .error(.challengeTimedOut)
            case (.cancelled, _): .error(.userCanceled)
            }
    }

    var json: JSONValue {
        switch self {
        case .successful: ["result": "successful"]
        case .failed: ["result": "failed"]
        case .error(let failure): ["result": "error", "error": .string(failure.rawValue)]
        }
    }
}

/// Braintree's status of an authentication, with its two liability flags.
///
/// The flags say whether the liability has shifted to the issuer, and whether it can.
package struct BraintreeResult: Equatable, Sendable {
    package let status: String
    package let liabilityShifted: Bool
    package let liabilityShiftPossible: Bool

    /// The payer left the challenge.
    ///
    /// The library then reports an error and no status. It reports a failure as another error.
    static let canceled = BraintreeResult(status: "canceled", isShifted: false, isPossible: true)
    static let timedOut = BraintreeResult(status: "exceededTimeoutLimit", isShifted: false, isPossible: true)

    private init(status: String, isShifted: Bool, isPossible: Bool) {
        (self.status, liabilityShifted, liabilityShiftPossible) = (status, isShifted, isPossible)
    }

    /// - Parameter transStatus: EMV's transStatus: Y, N, U, A, R, C or D. Any other value is an error.
    package init(transStatus: String) {
        self =
            switch transStatus {
            case "Y": BraintreeResult(status: "authenticate_successful", isShifted: true, isPossible: true)
            case "A": BraintreeResult(status: "authenticate_attempt_successful", isShifted: true, isPossible: true)
            case "N": BraintreeResult(status: "authenticate_failed", isShifted: false, isPossible: true)
            case "U": BraintreeResult(status: "authenticate_unable_to_authenticate", isShifted: false, isPossible: true)
            case "R": BraintreeResult(status: "authenticate_rejected", isShifted: false, isPossible: false)
            // The result comes later; for D it comes only in the RReq.
            case "C", "D": BraintreeResult(status: "challenge_required", isShifted: false, isPossible: true)
            default: BraintreeResult(status: "authenticate_error", isShifted: false, isPossible: true)
            }
    }

    var json: JSONValue {
        [
            "status": .string(status), "liabilityShifted": .bool(liabilityShifted),
            "liabilityShiftPossible": .bool(liabilityShiftPossible),
        ]
    }
}
