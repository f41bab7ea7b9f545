package import IssuerProtocol

/// Where one request stands.
package enum RequestState: Sendable, Equatable {
    case pending
    case approved
    case denied(DenyReason)
    case expired
    case cancelled
    /// The agent's own no; the token says which rule did not hold.
    case refused(token: String, reason: DenyReason)
}

/// Where the decision on one request stands.
package enum DeliveryState: Sendable, Equatable {
    case none
    case queued
    case delivered(TransStatus)
    /// Ended without the issuer having taken it; the token says why.
    case failed(token: String)

    /// The token if the enrollment is over.
    package static let unenrolled = "unenrolled"
    /// The token if the decision was committed after its deadline.
    package static let decidedLate = "decidedLate"
    /// The token if the decision is not in the database as the agent wrote it.
    package static let damaged = "damaged"
}

/// The life of one request: events in, actions out, no I/O.
///
/// ```
///            approve, deny            answered
///  pending ───────────────► decided ───────────► delivered
///     │ expire, cancel         │ exp, a listed code
///     ▼                        ▼
///  expired, cancelled        failed
/// ```
///
/// A delivery ends in the store (``StoreTransaction/endDelivery(of:as:error:)``), which needs nothing else of the request.
package struct RequestLife: Sendable, Equatable {
    package private(set) var state: RequestState
    package private(set) var delivery: DeliveryState

    /// A request that is in order and will be presented.
    package static let pending = RequestLife(state: .pending, delivery: .none)
    /// A request that came too late, or whose cancellation came first.
    package static let expired = RequestLife(state: .expired, delivery: .none)
    package static let cancelled = RequestLife(state: .cancelled, delivery: .none)

    /// A request that the agent denies by itself, so that the issuer can end the challenge at once.
    package static func refused(token: String, reason: DenyReason) -> RequestLife {
        RequestLife(state: .refused(token: token, reason: reason), delivery: .queued)
    }

    /// Reads back what the store kept.
    package init(state: RequestState, delivery: DeliveryState) {
        self.state = state
        self.delivery = delivery
    }

    package enum Decision: Sendable, Equatable {
        case approve
        case deny(DenyReason)
    }

    package enum DecideAction: Sendable, Equatable {
        case sign
        case queueDenial(DenyReason)
        case tooLate
    }

    /// What a decision asks for now.
    ///
    /// Approving changes nothing yet: only ``signed()`` does.
    package mutating func decide(_ decision: Decision) -> DecideAction {
        guard state == .pending else { return .tooLate }
        switch decision {
        case .approve: return .sign
        case .deny(let reason):
            self = RequestLife(state: .denied(reason), delivery: .queued)
            return .queueDenial(reason)
        }
    }

    /// The assertion exists.
    ///
    /// False if the request closed meanwhile: then the assertion must not leave.
    package mutating func signed() -> Bool {
        guard state == .pending else { return false }
        self = RequestLife(state: .approved, delivery: .queued)
        return true
    }

    /// `exp` is past.
    ///
    /// True if that closed the request.
    package mutating func expire() -> Bool { close(as: .expired) }

    /// The issuer took it back.
    ///
    /// True if that closed the request; a decided one stays as it is.
    package mutating func cancel() -> Bool { close(as: .cancelled) }

    private mutating func close(as end: RequestState) -> Bool {
        guard state == .pending else { return false }
        state = end
        return true
    }
}
