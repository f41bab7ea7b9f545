import Records

/// The signCounts that the issuers accepted, for approvals.
protocol AcceptedSignCounts: Sendable {
    /// Returns whether the issuer must be asked before the enrollment's key signs.
    func isDue(_ id: EnrollmentID) -> Bool
    /// Returns whether the issuer has reported since the start which signCount it accepted.
    func isKnown(_ id: EnrollmentID) -> Bool
    /// Asks the issuer if that is due, for a bounded time.
    ///
    /// - Parameter mustKnow: whether to ask even if that is not due, because a signCount was refused or restored.
    func ensureChecked(_ id: EnrollmentID, mustKnow: Bool) async -> SignCountInquiry
}

/// The outcome of a check that an issuer was asked for its signCount.
enum SignCountInquiry: Sendable, Equatable {
    /// The issuer was asked before, and is not due to be asked again.
    case notDue
    case answered
    case failed(reason: String)

    /// The reason why the issuer could not be asked now, or `nil` if it was asked or need not be.
    var trouble: String? {
        if case .failed(let reason) = self { reason } else { nil }
    }
}
