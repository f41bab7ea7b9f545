import IssuerProtocol
import Records
import StoreTables
import ThreeDS

/// The checks of a request before a decision.
extension Decider {
    /// A request that can be decided, and its enrollment, as read in one database transaction.
    struct Decidable: Sendable {
        var request: RequestRecord
        let enrollment: Enrollment
    }

    static func missing(_ id: RequestID) -> CommandError {
        CommandError(.notFound, "there is no request \(id)")
    }

    /// Reads a request that is pending now, and for which all expectations hold that need no enrollment.
    private func undecided(
        _ id: RequestID, expecting expectations: Expectations, in store: StoreReading
    ) throws -> RequestRecord {
        guard let request = try store.request(id) else { throw Self.missing(id) }
        guard request.life.state == .pending else { throw request.tooLate }
        // Read the clock after the row is locked: a write may have waited long for its turn, and for the row.
        guard let exp = request.exp, exp > ports.clock.now else {
            throw CommandError(.noLongerDecidable, "the request \(request.id) has expired", request: request)
        }
        guard !request.isDamaged else { throw request.damaged(.noLongerDecidable, "nothing was decided") }
        if let broken = expectations.firstBroken(by: request) {
            throw CommandError(.expectationFailed, "nothing was decided: \(broken)", request: request)
        }
        return request
    }

    /// Reads a request that can be decided now, and for which all expectations hold.
    func decidable(
        _ id: RequestID, expecting expectations: Expectations, in store: StoreReading
    ) throws -> Decidable {
        let request = try undecided(id, expecting: expectations, in: store)
        guard let enrollment = try store.enrollment(request.enrollmentId), case .active = enrollment.state else {
            throw CommandError(
                .notEnrolled, "the enrollment \(request.enrollmentId) is not active: its issuer no longer knows it",
                request: request)
        }
        try enrollment.expectWhole(for: request)
        if let digest = expectations.textDigest, try digest != request.text(for: enrollment, localTime)?.digest {
            throw CommandError(
                .expectationFailed, "nothing was decided: the request has changed since it was shown", request: request)
        }
        return Decidable(request: request, enrollment: enrollment)
    }
}

extension RequestRecord {
    /// The error of a request that can no longer be decided, which names its state.
    var tooLate: CommandError {
        let what =
            switch life.state {
            case .pending: "changed meanwhile"
            case .approved: "was approved already"
            case .denied: "was denied already"
            case .expired: "has expired"
            case .cancelled: "was cancelled by its issuer"
            case .refused: "was refused by the agent"
            }
        return CommandError(.noLongerDecidable, "the request \(id) \(what)", request: self)
    }

    /// Returns the error of a command about a request whose row the agent did not write.
    func damaged(_ code: CommandError.Code, _ consequence: String) -> CommandError {
        CommandError(
            code,
            "\(consequence): the request \(id) in the database is not as the agent wrote it; find out who writes to "
                + "the database, and have the issuer ask again", request: self)
    }
}
