import IssuerProtocol
import NIOHTTP1
import StrictJSON
package import TextAndTime
package import ThreeDS

/// The calls for a tester at a shell, to inspect a purchase and to repeat steps.
extension SandboxClient {
    /// Gets the timeline of a purchase.
    package func story(of acsTransId: ACSTransactionID) async throws(CallError) -> PurchaseReport {
        try PurchaseReport(try await call(.GET, path(acsTransId), body: nil))
    }

    /// Cancels as the payer ("01", also for `nil`) or as an SDK that has waited too long ("08").
    package func cancel(
        _ acsTransId: ACSTransactionID, challengeCancel: String?
    ) async throws(CallError) -> PurchaseReport {
        var body: JSONObject = [:]
        body["challengeCancel"] = challengeCancel.map(JSONValue.string)
        return try PurchaseReport(try await call(.POST, path(acsTransId) + "/cancel", body: body))
    }

    /// Makes the SDK send a CReq; `oobContinue` is "01" or "02", `nil` means "02".
    package func challengeRequest(
        _ acsTransId: ACSTransactionID, oobContinue: String?, oobAppFailed: Bool, isInvalid: Bool
    ) async throws(CallError) -> PurchaseReport {
        var body: JSONObject = [:]
        body["oobContinue"] = oobContinue.map(JSONValue.string)
        if oobAppFailed { body["oobAppStatus"] = "01" }
        if isInvalid { body["invalid"] = true }
        return try PurchaseReport(try await call(.POST, path(acsTransId) + "/creq", body: body))
    }

    /// Lists the purchase's request again, or starts its transaction as a new purchase.
    package func replay(_ acsTransId: ACSTransactionID, asNew: Bool) async throws(CallError) -> PurchaseReport {
        try PurchaseReport(try await call(.POST, path(acsTransId) + "/replay", body: ["asNew": .bool(asNew)]))
    }

    /// Lists the purchases, the newest first; the sandbox chooses a default for each `nil`.
    package func purchases(
        limit: Int64?, status: String?, after: ACSTransactionID?
    ) async throws(CallError) -> PurchaseList {
        let query = [("limit", limit.map(String.init)), ("status", status), ("after", after?.text)]
            .compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: "&")
        return PurchaseList(
            try await call(.GET, SandboxRoutes.purchases + (query.isEmpty ? "" : "?" + query), body: nil))
    }

    /// Ends an enrollment, as a bank does.
    package func revoke(_ authenticatorId: String) async throws(CallError) -> SandboxReport {
        let path = SandboxRoutes.authenticators + "/" + authenticatorId + "/revoke"
        return .authenticator(try await call(.POST, path, body: nil))
    }

    /// Gets the injected faults.
    package func faults() async throws(CallError) -> SandboxReport {
        .faults(try await call(.GET, SandboxRoutes.faults, body: nil))
    }

    /// Sets odds, in the syntax of `--faults`, and plans failures of single calls.
    package func setFaults(odds: String?, next: [String]) async throws(CallError) -> SandboxReport {
        let body: JSONObject
        do throws(SandboxError) { body = try FaultOrder.body(odds: odds, next: next) } catch {
            throw .refused(error.detail)
        }
        _ = try await call(.POST, SandboxRoutes.faults, body: body)
        return try await faults()
    }

    /// Clears the odds and the plan.
    package func clearFaults() async throws(CallError) -> SandboxReport {
        .cleared(try await call(.DELETE, SandboxRoutes.faults + "?odds=true", body: nil))
    }

    package func clock() async throws(CallError) -> SandboxReport {
        .clock(try await call(.GET, SandboxRoutes.clock, body: nil))
    }

    package func advanceClock(by advance: ClockAdvance) async throws(CallError) -> SandboxReport {
        .clock(try await call(.POST, SandboxRoutes.clock, body: ["advanceSeconds": .integer(advance.seconds)]))
    }

    private func path(_ acsTransId: ACSTransactionID) -> String { SandboxRoutes.purchases + "/" + acsTransId.text }
}

/// The checks of arguments before a call.
extension SandboxClient {
    /// Throws if the sandbox would refuse the odds or the failures.
    package static func checkFaults(odds: String?, next: [String]) throws(OrderError) {
        try expectValid { _ = try FaultOrder(try FaultOrder.body(odds: odds, next: next)) }
    }

    /// Throws unless the text is a status of purchases.
    package static func checkStatus(_ text: String) throws(OrderError) {
        try expectValid { _ = try PurchaseRegister.status(text) }
    }

    /// Throws unless the text has the form of an acsTransId.
    package static func acsTransId(_ text: String) throws(OrderError) -> ACSTransactionID {
        guard let id = ACSTransactionID(text) else {
            throw OrderError(description: "must be a UUID of 36 characters")
        }
        return id
    }

    /// Throws unless the text has the form of an authenticator's ID.
    package static func checkAuthenticatorId(_ text: String) throws(OrderError) {
        guard TokenID(text) == nil else { return }
        throw OrderError(description: "must be 1 to 64 of A-Z a-z 0-9 _ -")
    }

    package static let statuses = PurchaseRegister.Status.allCases.map(\.rawValue)
}
