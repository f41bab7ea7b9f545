/// The time left to decide.
struct Countdown: Sendable, Equatable {
    /// Seconds left at which the time is printed again, if the screen can only add lines.
    private static let marks: [Int64] = [300, 120, 60, 30, 10]

    let secondsLeft: Int64

    init?(expiresAt: Int64?, now: Int64) {
        guard let expiresAt else { return nil }
        secondsLeft = max(0, expiresAt - now)
    }

    var isOver: Bool { secondsLeft == 0 }

    /// Returns whether a mark was reached since `earlier`.
    func hasReachedMark(since earlier: Countdown?) -> Bool {
        guard let earlier else { return false }
        return Self.marks.contains { secondsLeft <= $0 && $0 < earlier.secondsLeft }
    }

    func text(_ traits: ScreenTraits) -> String {
        let (minutes, seconds) = secondsLeft.quotientAndRemainder(dividingBy: 60)
        guard traits.isPlain else {
            return "Expires in \(minutes):\(seconds < 10 ? "0" : "")\(seconds)."
        }
        let parts = [(minutes, "minute"), (seconds, "second")].filter { $0.0 > 0 }
            .map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
        return "Expires in \(parts.isEmpty ? "less than a second" : parts.joined(separator: " "))."
    }
}
