import IssuerProtocol
import StrictJSON

/// The course of one authentication: the messages between the parties of EMV 3-D Secure, in order of time.
struct EMVStory: Sendable {
    let steps: [EMVStep]
    /// The number of CReqs, with the late ones.
    let challengeRequests: Int
    private let messages: EMVMessages
    private let completion: CompletionRecord?

    /// - Parameters:
    ///   - creqs: the CReqs that the test sent, in order.
    ///   - requests: the authn requests of the purchase.
    init(
        purchase: PurchaseRecord, completion: CompletionRecord?, creqs: [ChallengeRequestRecord],
        requests: [RequestStory]
    ) {
        messages = EMVMessages(purchase: purchase)
        self.completion = completion
        var flow = Flow(messages: messages)
        flow.begin(at: purchase.createdAt)
        flow.addMiddle(creqs.filter { $0.answer == .instructions }, requests)
        if let completion {
            flow.finish(EMVOutcome(completion: completion, profile: purchase.emv), requests)
            flow.addAfterwards(creqs.filter { $0.answer != .instructions }, completion)
        }
        steps = flow.steps
        challengeRequests = flow.steps.count { $0.label == "CReq" }
    }

    /// EMV's messages, with the step `outOfBand` in its place among them.
    var json: [JSONValue] { steps.compactMap(\.message) }
}

/// A builder of the steps.
private struct Flow {
    let messages: EMVMessages
    private(set) var steps: [EMVStep] = []
    /// The counter of the next CReq and its CRes.
    private var counter = 0

    private var profile: EMVProfile { messages.profile }
    private var client: EMVParty { profile.channel == .app ? .sdk : .browser }

    init(messages: EMVMessages) { self.messages = messages }

    private mutating func add(
        _ at: Int64, _ from: EMVParty, _ to: EMVParty, _ label: String, _ message: JSONValue?, _ detail: String = ""
    ) {
        steps.append(EMVStep(at: at, from: from, to: to, label: label, detail: detail, message: message))
    }

    mutating func begin(at time: Int64) {
        add(time, .server, .acs, "AReq", messages.areq, "deviceChannel \(profile.channel.rawValue)")
        add(time, .acs, .server, "ARes", messages.ares, "transStatus \(profile.decoupled == nil ? "C" : "D")")
        guard profile.decoupled == nil, profile.sdk != .noFirstCReq else { return }
        add(time, client, .acs, "CReq", messages.firstCReq)
        counter = 1
        // A browser gets the ACS's page, and a CRes only at the end.
        guard profile.channel == .app else { return }
        add(time, .acs, .sdk, "CRes", messages.instructions(0), "acsUiType 04, out of band")
        guard profile.oobAppFailed else { return }
        add(time, .sdk, .acs, "CReq", messages.failedOpeningCReq(1), "oobAppStatus 01")
        add(time, .acs, .sdk, "CRes", messages.instructions(1), "acsUiType 04, out of band")
        counter = 2
    }

    /// Adds the events before the completion: authn requests, refused decisions, and early CReqs.
    mutating func addMiddle(_ creqs: [ChallengeRequestRecord], _ requests: [RequestStory]) {
        var events: [(at: Int64, steps: [EMVStep])] = []
        for request in requests {
            let record = request.request
            events.append(
                (record.iat, [EMVStep(at: record.iat, from: .acs, to: .authenticator, label: "authn request")]))
            for refusal in request.refusals {
                events.append(
                    (
                        refusal.at,
                        [
                            EMVStep(
                                at: refusal.at, from: .authenticator, to: .acs, label: "decision refused",
                                detail: refusal.code)
                        ]
                    ))
            }
        }
        for creq in creqs {
            let message =
                creq.oobAppFailed
                ? messages.failedOpeningCReq(counter)
                : messages.returningCReq(counter, oobContinue: creq.oobContinue)
            let answer = messages.instructions(counter)
            counter += 1
            events.append(
                (
                    creq.at,
                    [
                        EMVStep(
                            at: creq.at, from: .sdk, to: .acs, label: "CReq",
                            detail: creq.oobAppFailed ? "oobAppStatus 01" : "no result yet", message: message),
                        EMVStep(
                            at: creq.at, from: .acs, to: .sdk, label: "CRes", detail: "out of band", message: answer),
                    ]
                ))
        }
        let order = events.indices.sorted { (events[$0].at, $0) < (events[$1].at, $1) }
        steps += order.flatMap { events[$0].steps }
    }

    mutating func finish(_ outcome: EMVOutcome, _ requests: [RequestStory]) {
        let completion = outcome.completion
        let at = completion.at
        if let jti = completion.jti {
            let result = completion.reason ?? "approved"
            add(
                at, .authenticator, .acs, "decision",
                ["step": "outOfBand", "jti": .string(jti), "result": .string(result)], result)
        }
        addLastCReq(of: completion)
        add(at, .acs, .server, "RReq", messages.rreq(outcome), Self.detail(of: outcome))
        add(at, .server, .acs, "RRes", messages.rres)
        if isAnswered(completion) { addFinalCRes(of: outcome, at: at) }
        for request in requests {
            guard let cancelledAt = request.request.cancelledAt else { continue }
            add(cancelledAt, .acs, .authenticator, "cancellation", nil)
        }
    }

    private static func detail(of outcome: EMVOutcome) -> String {
        let parts = [
            "transStatus \(outcome.transStatus)", outcome.transStatusReason.map { "reason \($0)" },
            outcome.challengeCancel.map { "challengeCancel \($0)" },
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }

    /// Adds the CReq of a cardholder who comes back or gives up; a browser sends no second CReq.
    private mutating func addLastCReq(of completion: CompletionRecord) {
        guard profile.channel == .app, profile.decoupled == nil else { return }
        switch (completion.status, completion.reason) {
        case (_, CompletionRecord.invalidCReq?):
            add(completion.at, .sdk, .acs, "CReq", messages.creq(counter), "not valid")
            add(completion.at, .acs, .sdk, "Erro", messages.erro(EMVErro.invalidCReq), "errorCode 203")
        case (.cancelled, CompletionRecord.sdkTimedOut?):
            add(completion.at, .sdk, .acs, "Erro", messages.erro(EMVErro.missingCRes), "errorCode 402")
        case (.cancelled, _):
            add(
                completion.at, .sdk, .acs, "CReq", messages.creq(counter, ["challengeCancel": "01"]),
                "challengeCancel 01")
        case (.authenticated, _), (.notAuthenticated, _):
            guard profile.sdk != .noReturn else { return }
            let oobContinue = profile.oobContinue ?? "01"
            add(
                completion.at, .sdk, .acs, "CReq", messages.returningCReq(counter, oobContinue: oobContinue),
                "back in the merchant's app")
        case (.expired, _): break
        }
    }

    /// Returns whether a final CRes follows the RReq at once; in the app channel it answers a CReq.
    ///
    /// In the browser channel the ACS's page ends with a CRes, even after a time-out, unless no CReq ever came.
    private func isAnswered(_ completion: CompletionRecord) -> Bool {
        guard profile.decoupled == nil, profile.sdk != .noFirstCReq || completion.status != .expired else {
            return false
        }
        if profile.channel == .browser { return true }
        switch (completion.status, completion.reason) {
        case (.expired, _), (_, CompletionRecord.invalidCReq?), (_, CompletionRecord.sdkTimedOut?): return false
        case (.cancelled, _): return true
        case (.authenticated, _), (.notAuthenticated, _): return profile.sdk != .noReturn
        }
    }

    private mutating func addFinalCRes(of outcome: EMVOutcome, at time: Int64) {
        let final = messages.finalCRes(counter, transStatus: outcome.transStatus)
        add(time, .acs, client, "CRes", final, "transStatus \(outcome.transStatus)")
    }

    /// Adds the CReqs after the result: the CReq that gets the result, and late ones.
    mutating func addAfterwards(_ creqs: [ChallengeRequestRecord], _ completion: CompletionRecord) {
        let outcome = EMVOutcome(completion: completion, profile: profile)
        for creq in creqs {
            let (message, detail) =
                switch (creq.oobAppFailed, counter) {
                case (_, 0): (messages.firstCReq, "the first one")
                case (true, _): (messages.failedOpeningCReq(counter), "oobAppStatus 01")
                case (false, _):
                    (messages.returningCReq(counter, oobContinue: creq.oobContinue), "back in the merchant's app")
                }
            add(creq.at, .sdk, .acs, "CReq", message, detail)
            switch creq.answer {
            case .final: addFinalCRes(of: outcome, at: creq.at)
            case .late, .instructions:
                add(creq.at, .acs, .sdk, "Erro", messages.erro(EMVErro.lateCReq), "errorCode 402")
            }
            counter += 1
        }
    }
}
