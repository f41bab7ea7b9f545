internal import FoundationEssentials

/// The counts of pushes and polls as a table row for people.
extension PushView {
    package static let heading = ["POLLS", "PUSHED", "POLLED", "BY PUSH", "BY POLL", "TWICE", "DELAY"]

    /// - Parameter now: seconds since 1970.
    package func cells(now: Int64) -> [String] {
        [
            pace, Self.age(lastPush, now), Self.age(lastPoll, now), String(firstByPush), String(firstByPoll),
            String(duplicates), latency.map { "\($0)s" } ?? "",
        ]
    }

    /// The pace of polls: `slow` while pushes arrive, `resumed` if pushes arrived and then one did not.
    private var pace: String { works ? "slow" : lastPush == nil ? "fast" : "resumed" }

    /// Returns the time since then, in its largest whole unit.
    private static func age(_ time: String?, _ now: Int64) -> String {
        guard let time else { return "never" }
        // Text that is not a time is shown unchanged.
        guard let date = try? Date(time, strategy: .iso8601) else { return time }
        // If the clock was set back meanwhile, a time in the future is shown as now.
        let seconds = max(now - Int64(date.timeIntervalSince1970), 0)
        switch seconds {
        case ..<60: return "\(seconds)s ago"
        case ..<3_600: return "\(seconds / 60)m ago"
        case ..<86_400: return "\(seconds / 3_600)h ago"
        default: return "\(seconds / 86_400)d ago"
        }
    }
}
