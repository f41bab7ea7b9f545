import IssuerProtocol
import Records
import StoreTables
import ThreeDS

/// The look at what is to be decided.
extension Decider {
    /// A request that can be decided, and its enrollment, as one look into the store found them.
    struct Decidable: Sendable {
        var request: RequestRecord
        let enrollment: Enrollment
    }

    static func missing(_ id: RequestID) -> CommandError {
        CommandError(.notFound, "there is no request \(id)")
    }

    /// A request that is pending now and of which all expectations hold that need no enrollment.
    private func undecided(
        _ id: RequestID, expecting expectations: Expectations, in store: StoreReading
    ) throws -> RequestRecord {
        guard let request = try store.request(id) else { throw Self.missing(id) }
        guard request.life.state == .pending else { throw request.tooLate }
        // The time is taken now that the row is held: a write may have waited long for its turn, and for the row.
        guard let exp = request.exp, exp > ports.clock.now else {
            throw CommandError(.noLongerDecidable, "the request \(request.id) has expired", request: request)
        }
        guard !request.isDamaged else { throw request.damaged(.noLongerDecidable, "nothing was decided") }
        if let broken = expectations.firstBroken(by: request) {
            throw CommandError(.expectationFailed, "nothing was decided: \(broken)", request: request)
        }
        return request
    }

    /// A request that can be decided now and of which all expectations hold.
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
    /// The failure that says what became of a request that can no longer be decided.
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

    /// The failure of what cannot be done with a request that is not as the agent wrote it.
    func damaged(_ code: CommandError.Code, _ consequence: String) -> CommandError {
        CommandError(
            code,
            "\(consequence): the request \(id) in the database is not as the agent wrote it; find out who writes to "
                + "the database, and have the issuer ask again", request: self)
    }
}
