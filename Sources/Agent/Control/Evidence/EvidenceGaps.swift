/// A part that other evidence has and this evidence lacks.
package struct EvidenceGap: Sendable, Equatable {
    package let what: String
    package let why: String
}

extension EvidenceView {
    /// The missing parts, each with the reason.
    package var gaps: [EvidenceGap] {
        let asked =
            erased
            ? [EvidenceGap(what: "what the issuer sent, what was shown, what was signed", why: Self.wasErased)]
            : [issuerKeyGap, transactionGap, textGap, decisionGap, assertionGap, credentialGap].compactMap(\.self)
        return asked + [journalGap, answerGap].compactMap(\.self)
    }

    private static let wasErased =
        "the enrollment's personal data was erased (`oobctl unenroll --erase`); ids, times, states and the journal stay"
    private static let isOlder = "the agent did not keep it yet when the request came"

    private var issuerKeyGap: EvidenceGap? {
        issuerKey == nil ? EvidenceGap(what: "the issuer's key", why: Self.isOlder) : nil
    }

    private var transactionGap: EvidenceGap? {
        guard transaction == nil else { return nil }
        let why = request.refusal.map { "the agent refused the request (`\($0)`) and showed it to nobody" }
        return EvidenceGap(
            what: "the transaction",
            why: (why ?? "the request came too late and was shown to nobody") + "; what was asked is in `request.jws`")
    }

    private var textGap: EvidenceGap? {
        guard text == nil, transaction != nil else { return nil }
        let why =
            request.state == .cancelled ? "the issuer had taken the request back before it was shown" : Self.isOlder
        return EvidenceGap(what: "the text", why: why)
    }

    private var decisionGap: EvidenceGap? {
        guard decision == nil else { return nil }
        let why =
            switch request.state {
            case .pending: "nobody has decided yet"
            case .expired: "nobody decided in time; then nothing is sent"
            case .cancelled: "the issuer took the request back undecided; then nothing is sent"
            case .approved, .denied, .refused: Self.isOlder
            }
        return EvidenceGap(what: "a decision", why: why)
    }

    private var assertionGap: EvidenceGap? {
        guard assertion == nil, decision != nil else { return nil }
        return EvidenceGap(what: "an assertion", why: "a deny is not signed")
    }

    private var credentialGap: EvidenceGap? {
        guard credential.publicKey == nil else { return nil }
        return EvidenceGap(
            what: "the credential's public key",
            why: "the agent has not used the key since it began to note public keys")
    }

    private var journalGap: EvidenceGap? {
        if let fault = journal.fault {
            return EvidenceGap(
                what: "the audit key's word for the entries", why: "the journal is not whole. \(fault.message)")
        }
        guard journal.entries.isEmpty else { return nil }
        return EvidenceGap(what: "the journal's entries", why: "they were removed for their age (`audit-retention`)")
    }

    private var answerGap: EvidenceGap? {
        switch request.delivery {
        case .delivered: nil
        case .queued: EvidenceGap(what: "the issuer's answer", why: "it has not come yet")
        case .failed: EvidenceGap(what: "the issuer's answer", why: "the issuer did not take the decision")
        case .none: decision == nil ? nil : EvidenceGap(what: "the issuer's answer", why: "nothing was sent")
        }
    }
}
