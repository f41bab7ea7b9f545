package import IssuerProtocol

/// The state of one request.
package enum RequestState: Sendable, Equatable {
    case pending
    case approved
    case denied(DenyReason)
    case expired
    case cancelled
    /// A denial by the agent itself; the token names the broken rule.
    case refused(token: String, reason: DenyReason)
}

/// The state of the delivery of a decision.
package enum DeliveryState: Sendable, Equatable {
    case none
    case queued
    case delivered(TransStatus)
    /// A delivery that ended without the issuer's acceptance; the token is the reason.
    case failed(token: String)

    /// The token for an ended enrollment.
    package static let unenrolled = "unenrolled"
    /// The token for a decision that was committed after its deadline.
    package static let decidedLate = "decidedLate"
    /// The token for a decision whose stored bytes differ from what the agent wrote.
    package static let damaged = "damaged"
}

/// The state machine of one request: events in, actions out, no I/O.
///
/// ```
///            approve, deny            answered
///  pending ───────────────► decided ───────────► delivered
///     │ expire, cancel         │ exp, a listed code
///     ▼                        ▼
///  expired, cancelled        failed
/// ```
///
/// The store ends a delivery (``StoreTransaction/endDelivery(of:as:error:)``). That needs no other data of the request.
package struct RequestLife: Sendable, Equatable {
    package private(set) var state: RequestState
    package private(set) var delivery: DeliveryState

    /// A valid request that will be presented.
    package static let pending = RequestLife(state: .pending, delivery: .none)
    /// A request that came too late, or whose cancellation came first.
    package static let expired = RequestLife(state: .expired, delivery: .none)
    package static let cancelled = RequestLife(state: .cancelled, delivery: .none)

    /// Returns a request that the agent denies by itself, so that the issuer can end the challenge at once.
    package static func refused(token: String, reason: DenyReason) -> RequestLife {
        RequestLife(state: .refused(token: token, reason: reason), delivery: .queued)
    }

    /// Restores a state from the store.
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

    /// Applies a decision, and returns the next action.
    ///
    /// An approval does not change the state yet. Only ``signed()`` does.
    package mutating func decide(_ decision: Decision) -> DecideAction {
        guard state == .pending else { return .tooLate }
        switch decision {
        case .approve: return .sign
        case .deny(let reason):
            self = RequestLife(state: .denied(reason), delivery: .queued)
            return .queueDenial(reason)
        }
    }

    /// Approves the request, because the assertion exists.
    ///
    /// Returns `false` if the request was closed meanwhile. Then the assertion must not be sent.
    package mutating func signed() -> Bool {
        guard state == .pending else { return false }
        self = RequestLife(state: .approved, delivery: .queued)
        return true
    }

    /// Closes the request, because its `exp` has passed.
    ///
    /// Returns `true` if that closed the request.
    package mutating func expire() -> Bool { close(as: .expired) }

    /// Closes the request, because the issuer cancelled it.
    ///
    /// Returns `true` if that closed the request. A decided request does not change.
    package mutating func cancel() -> Bool { close(as: .cancelled) }

    private mutating func close(as end: RequestState) -> Bool {
        guard state == .pending else { return false }
        state = end
        return true
    }
}
