package import TextAndTime

/// The agent's clock: the answer of `GET /v1/clock`.
///
/// If it is a test clock, other answers contain it too.
package struct ClockView: Codable, Sendable, Equatable {
    /// Whether a test may advance it.
    package var isTest: Bool
    /// The time in seconds by which the clock is ahead of the machine's.
    package var offsetSeconds: Int
    /// The time of the clock: RFC 3339, UTC.
    package var now: String

    package init(isTest: Bool, offsetSeconds: Int, now: String) {
        self.isTest = isTest
        self.offsetSeconds = offsetSeconds
        self.now = now
    }

    /// The time by which the clock is ahead of the machine's, such as `1h30m`.
    package var offsetText: String { ClockAdvance.text(Int64(offsetSeconds)) }
}

/// The body of `POST /v1/clock`.
package struct ClockCommand: Encodable, Sendable, Equatable {
    package let advance: ClockAdvance

    package init(_ advance: ClockAdvance) { self.advance = advance }

    /// Parses a duration such as `10m`.
    package init(duration: String) throws(ControlError) {
        do throws(ClockAdvance.Refusal) {
            self.init(try ClockAdvance(duration))
        } catch {
            throw ControlError(.invalidArgument, "\(error)")
        }
    }

    private enum CodingKeys: CodingKey { case advanceSeconds }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(advance.seconds, forKey: .advanceSeconds)
    }
}
