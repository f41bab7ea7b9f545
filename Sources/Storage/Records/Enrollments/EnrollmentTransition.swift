import IssuerProtocol
import Keys

/// What can become of an enrollment in the store: each change names what it expects of the row.
///
/// The store reads the row, asks ``applied(to:)`` and writes the row, all in one database transaction. So nobody writes
/// back what was read before an `await`: if the row is no longer as expected, nothing is written, and the caller is
/// told so.
package enum EnrollmentTransition: Sendable {
    /// Expects one that is being enrolled: the issuer has taken it.
    case registered(Membership)
    /// Expects one that its issuer has not taken: it ends.
    case givenUp(reason: String, at: Int64)
    /// Expects an active one: the issuer no longer knows its token.
    case suspended
    /// Expects a suspended one: the issuer knows its token again.
    case resumed
    /// Expects one that is not over.
    case ended(at: Int64)
    /// Expects an active one with a lower signCount, and no refused one: an assertion is committed.
    ///
    /// So its PIN was right.
    case signCountTaken(UInt32)
    /// Expects one that is not over, with the signCount that is raised.
    case signCountRaised(SignCountRaise)
    /// Expects one that is not over: its issuer refused an assertion with this signCount.
    case signCountRefused(UInt32)
    /// Expects one that is not over, with this refused signCount: the issuer has said since which one it accepted.
    case signCountKnown(since: UInt32)
    /// Expects one that is not over, with these tries of its PIN.
    case pinTries(from: PINTries, to: PINTries)
    /// Expects one that is not over, with this sealed key: the old PIN was right, and there is a new one.
    case pinChanged(isGuessable: Bool, key: Resealing)
    /// Expects this sealed token: the same one is sealed anew.
    case tokenResealed(from: [UInt8], to: [UInt8])
    /// Expects one that is not over, with this sealed key: the same one is sealed anew.
    case keyResealed(Resealing)
    /// Expects one that is not over: nothing changes, and its row is sealed anew.
    case rowResealed

    /// The enrollment after the change; nil if it is not as the change expects.
    package func applied(to enrollment: Enrollment) -> Enrollment? {
        // Of a damaged one nothing can be kept, and it can only end.
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

    /// What is expected of every enrollment that is not over.
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
