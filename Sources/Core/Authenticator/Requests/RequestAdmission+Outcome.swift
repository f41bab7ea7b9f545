import Records

extension RequestAdmission {
    /// Why a request is refused that is in order by itself; the raw values are stable.
    enum Refusal: String, CaseIterable {
        case tooManyUndecided, tooManyBytes, conflict

        /// The fault and what is allowed, for a log line.
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
        /// Without a refusal, what is wrong is in the message itself.
        case refused(Refusal?)
        /// Anything else that changed the store.
        case entered
        /// Its jti, or its transaction under another jti, is known; nothing to do.
        case known
        /// The jti stands for other bytes: it is never answered.
        case reusedJTI
        /// Too many came within a day, or too many that are never presented: it is neither kept nor answered.
        case overQuota
        /// Its issuer or enrollment has no room in the store, not even for a refusal: it is neither kept nor answered.
        case noRoom
        /// `iat` is ahead: it is not in the store.
        case early(secondsAhead: Int64)
        case tooEarly(secondsAhead: Int64)

        /// Whether it is in the store now, and was not before.
        var isNews: Bool {
            switch self {
            case .presented, .refused, .entered: true
            case .known, .reusedJTI, .overQuota, .noRoom, .early, .tooEarly: false
            }
        }
    }
}
