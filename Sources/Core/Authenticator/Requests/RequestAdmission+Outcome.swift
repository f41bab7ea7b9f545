import Records

extension RequestAdmission {
    /// Reason to refuse a request that is valid in itself.
    ///
    /// The raw values are stable.
    enum Refusal: String, CaseIterable {
        case tooManyUndecided, tooManyBytes, conflict

        /// The fault and the bound, for a log line.
        var sentence: String {
            switch self {
            case .tooManyUndecided: "as many requests as max-undecided are undecided"
            case .tooManyBytes:
                "as many bytes as max-stored-bytes are stored for its issuer, or as many as there may be for one enrollment"
            case .conflict: "its acsTransId stands for another transaction"
            }
        }
    }

    /// The result of a message's admission.
    enum Outcome: Sendable {
        /// It is in the store, and pending.
        case presented(RequestID)
        /// It is in the store, and its denial in the outbox.
        ///
        /// Without a refusal, the fault is in the message itself.
        case refused(Refusal?)
        /// Any other change of the store.
        case entered
        /// Its jti, or its transaction under another jti, is known.
        ///
        /// It needs no further work.
        case known
        /// Its jti is known with other bytes.
        ///
        /// It is never answered.
        case reusedJTI
        /// Too many messages came within a day, or too many that are never presented.
        ///
        /// It is neither stored nor answered.
        case overQuota
        /// Its issuer or enrollment has no room in the store, not even for a refusal.
        ///
        /// It is neither stored nor answered.
        case noRoom
        /// Its `iat` is ahead.
        ///
        /// It is not in the store.
        case early(secondsAhead: Int64)
        case tooEarly(secondsAhead: Int64)

        /// Whether the outcome is news.
        ///
        /// A message that is older than its known request is stored too, but is no news.
        var isNews: Bool {
            switch self {
            case .presented, .refused, .entered: true
            case .known, .reusedJTI, .overQuota, .noRoom, .early, .tooEarly: false
            }
        }
    }
}
