import IssuerProtocol
import Keys

/// A change of an enrollment in the store, with its precondition on the row.
///
/// The store reads the row, calls ``applied(to:)`` and writes the row, all in one database transaction. So no caller
/// writes back data that it read before an `await`. If the row does not meet the precondition, the store writes no
/// change and reports that to the caller.
///
/// Below, "live" means that the enrollment has not ended.
package enum EnrollmentTransition: Sendable {
    /// The issuer has accepted the registration; expects an enrollment in the state `enrolling`.
    case registered(Membership)
    /// The registration is given up, and the enrollment ends; expects one in the state `enrolling`.
    case givenUp(reason: String, at: Int64)
    /// The issuer no longer knows the token; expects an active enrollment.
    case suspended
    /// The issuer knows the token again; expects a suspended enrollment.
    case resumed
    /// The enrollment ends; expects a live one.
    case ended(at: Int64)
    /// An assertion is committed; expects an active enrollment, a lower signCount and no refused one.
    ///
    /// The wrong PINs are reset, because the PIN was right.
    case signCountTaken(UInt32)
    /// The signCount is raised; expects a live enrollment with the signCount that is raised.
    case signCountRaised(SignCountRaise)
    /// The issuer has refused an assertion with this signCount; expects a live enrollment.
    case signCountRefused(UInt32)
    /// The issuer has stated the accepted signCount since; expects a live enrollment with this refused one.
    case signCountKnown(since: UInt32)
    /// The count of wrong PINs changes; expects a live enrollment with the old count.
    case pinTries(from: PINTries, to: PINTries)
    /// The PIN is changed after the old one was right; expects a live enrollment with this sealed key.
    case pinChanged(isGuessable: Bool, key: Resealing)
    /// The same token is sealed anew; expects this sealed token.
    case tokenResealed(from: [UInt8], to: [UInt8])
    /// The same key is sealed anew; expects a live enrollment with this sealed key.
    case keyResealed(Resealing)
    /// The row is sealed anew without other changes; expects a live enrollment.
    case rowResealed

    /// Returns the enrollment after the change, or `nil` if it does not meet the precondition.
    package func applied(to enrollment: Enrollment) -> Enrollment? {
        // No value of a damaged row can be kept, so the enrollment can only end.
        guard !enrollment.isDamaged || isEnd else { return nil }
        var changed = enrollment
        return apply(&changed) ? changed : nil
    }

    private var isEnd: Bool {
        switch self {
        case .ended, .givenUp: true
        default: false
        }
    }

    private func apply(_ enrollment: inout Enrollment) -> Bool {
        switch (self, enrollment.state) {
        case (.registered(let membership), .enrolling):
            enrollment.state = .active(membership)
        case (.givenUp(let reason, let now), .enrolling):
            enrollment.end(at: now)
            enrollment.endReason = reason
        case (.suspended, .active(let membership)):
            enrollment.state = .suspended(membership)
        case (.resumed, .suspended(let membership)):
            enrollment.state = .active(membership)
        case (.signCountTaken(let count), .active)
        where enrollment.signCount < count && enrollment.refusedSignCount == nil:
            enrollment.signCount = count
            enrollment.ownPINTries = .fresh
        case (.tokenResealed(let old, let new), .active(let membership)) where membership.sealedToken == old:
            enrollment.state = .active(membership.with(sealedToken: new))
        case (.tokenResealed(let old, let new), .suspended(let membership)) where membership.sealedToken == old:
            enrollment.state = .suspended(membership.with(sealedToken: new))
        default:
            return !enrollment.isOver && applyToAnyState(&enrollment)
        }
        return true
    }

    /// Applies a change that is possible in every state of a live enrollment.
    private func applyToAnyState(_ enrollment: inout Enrollment) -> Bool {
        switch self {
        case .ended(let now):
            enrollment.end(at: now)
        case .rowResealed:
            break
        case .signCountRaised(let raise) where enrollment.signCount == raise.from && raise.from < raise.to:
            enrollment.signCount = raise.to
            enrollment.signCountRaise = raise
        case .signCountRefused(let count):
            enrollment.refusedSignCount = max(count, enrollment.refusedSignCount ?? 0)
        case .signCountKnown(let refused) where enrollment.refusedSignCount == refused:
            enrollment.refusedSignCount = nil
        case .pinTries(let old, let new) where enrollment.ownPINTries == old:
            enrollment.ownPINTries = new
        case .keyResealed(let key) where enrollment.sealedKey == key.from:
            enrollment.sealedKey = key.to
        case .pinChanged(let isGuessable, let key) where enrollment.sealedKey == key.from:
            enrollment.sealedKey = key.to
            enrollment.ownPINTries = .fresh
            enrollment.isPINGuessable = isGuessable
        default:
            return false
        }
        return true
    }
}

extension Membership {
    fileprivate func with(sealedToken: [UInt8]) -> Membership {
        Membership(authenticatorId: authenticatorId, sealedToken: sealedToken, enrolledAt: enrolledAt)
    }
}
