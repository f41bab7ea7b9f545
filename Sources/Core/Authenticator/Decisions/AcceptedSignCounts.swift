import Records

/// The signCounts that the issuers accepted, as far as an approval asks about them.
protocol AcceptedSignCounts: Sendable {
    /// Whether the issuer is to be asked before the enrollment's key signs.
    func isDue(_ id: EnrollmentID) -> Bool
    /// Whether the issuer has said since the start which signCount it accepted.
    func isKnown(_ id: EnrollmentID) -> Bool
    /// Asks the issuer if that is due, for a bounded time.
    ///
    /// - Parameter mustKnow: it is asked all the same, since a signCount was refused or restored.
    func ensureChecked(_ id: EnrollmentID, mustKnow: Bool) async -> SignCountInquiry
}

/// The outcome of making sure that an issuer was asked for its signCount.
enum SignCountInquiry: Sendable, Equatable {
    /// It was asked before, and is not to be asked again yet.
    case notDue
    case answered
    case failed(reason: String)

    /// Why the issuer could not be asked now; `nil` if it was, or need not be.
    var trouble: String? {
        if case .failed(let reason) = self { reason } else { nil }
    }
}
