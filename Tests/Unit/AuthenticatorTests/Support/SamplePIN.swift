import IssuerProtocol
import Keys

@testable import Records

extension PIN {
    static var right: PIN { get throws { try PIN(Secret(Array("736251".utf8))) } }
    static var wrong: PIN { get throws { try PIN(Secret(Array("736252".utf8))) } }
    static var other: PIN { get throws { try PIN(Secret(Array("736253".utf8))) } }
}

extension SampleAgent {
    /// An enrollment of authnType `pin` with a real key under ``PIN/right``, and a request that is pending.
    func enrolledWithPIN() async throws -> (card: SampleEnrollment, request: RequestID) {
        let card = try await enrolled(authnType: .pin, pin: .right)
        try await receive(SampleRequest(userVerification: "required"), for: card)
        return (card, try await onlyRequest().id)
    }

    func tries(of card: SampleEnrollment) async throws -> PINTries { try await enrollment(card.id).pinTries }

    /// What an approval fails with; nil if it does not.
    func refusal(of request: RequestID, pin: PIN?) async throws -> CommandError? {
        do {
            try await approve(request, pin: pin)
            return nil
        } catch let failure as CommandError {
            return failure
        }
    }

    /// Tries a wrong PIN so many times.
    func approveWithWrongPIN(_ request: RequestID, times: Int) async throws {
        for _ in 0..<times { _ = try await refusal(of: request, pin: .wrong) }
    }
}
