/// The EMV 3-D Secure fields of a completion, which differ by version and channel.
struct EMVOutcome: Sendable {
    let completion: CompletionRecord
    let profile: EMVProfile

    /// The transStatus of the RReq.
    var transStatus: String { completion.transStatus }

    /// The reason why the authentication did not succeed; transStatusReason is required for N and U.
    ///
    /// The values of 2.1.0 end at 21: for a reason without a value, the sandbox sends 01.
    var transStatusReason: String? {
        let has26 = profile.version != .v210
        switch completion.status {
        case .authenticated: return nil
        // 24: the Requestor's time for a decoupled authentication has run out. 14: timed out at the ACS.
        case .expired: return profile.decoupled == nil ? "14" : "24"
        // 26: attempted but not performed by the cardholder.
        case .cancelled: return has26 ? "26" : "01"
        case .notAuthenticated:
            switch completion.reason {
            case "suspectedFraud": return "11"
            // Card authentication failed.
            case "userDenied": return "01"
            // Invalid transaction.
            case CompletionRecord.invalidCReq: return "07"
            // 22, ACS technical issue: the authenticator refused the request itself.
            default: return has26 ? "22" : "01"
            }
        }
    }

    /// Challenge Cancelation Indicator, which distinguishes leaving and timing out from failing.
    var challengeCancel: String? {
        switch completion.status {
        case .authenticated: nil
        case .notAuthenticated:
            // 06: transaction error. 10: an Erro in response to the CReq, which only 2.3.1 distinguishes.
            if completion.reason != CompletionRecord.invalidCReq {
                nil
            } else {
                profile.version == .v231 ? "10" : "06"
            }
        // 08: timed out at the SDK. 01: the cardholder selected Cancel.
        case .cancelled: completion.reason == CompletionRecord.sdkTimedOut ? "08" : "01"
        case .expired:
            // 03: timed out, decoupled. 05: no first CReq came. 04: timed out at the ACS otherwise.
            if profile.decoupled != nil { "03" } else { profile.sdk == .noFirstCReq ? "05" : "04" }
        }
    }

    /// The number of the cardholder's attempts, or `nil` for a decoupled authentication, which has none to count.
    var interactionCounter: String? {
        guard profile.decoupled == nil else { return nil }
        return completion.jti == nil ? "00" : "01"
    }
}

extension CompletionRecord {
    /// The sandbox's own reasons for a completion.
    static let invalidCReq = "invalidCReq"
    static let sdkTimedOut = "sdkTimedOut"
}
