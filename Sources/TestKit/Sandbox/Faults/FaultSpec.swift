import TextAndTime

/// Faults with odds and a seed, in the syntax of `oob-issuer serve --faults`.
package struct FaultSpec: Sendable, Equatable {
    /// An error in the text: what is wrong, where, and what is allowed.
    package struct ParseError: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    /// A failure in place of an answer; a call gets at most one, so their odds add up.
    enum Ending: String, Sendable, CaseIterable {
        case dropBefore = "drop-before"
        case dropAfter = "drop-after"
        case internalError = "500"
        case unavailable = "503"
        case unavailableForNow = "503-retry-after"
        case garbage, truncated, endless
    }

    package static let help = """
        NAME=ODDS for each kind of fault, joined by commas; ODDS is 0 to 1 in at most six decimals. The kinds: \
        slow=ODDS:TIME (1ms to 60s); drop-before, drop-after (the connection is closed without an answer, and the call \
        had no effect, or had it); 500; 503; 503-retry-after=ODDS:TIME (whole seconds, to 3600s); garbage; truncated; \
        endless; duplicate, reorder (of the requests in a fetch's answer); full-list, full-list-moving (a fetch is answered \
        at once with all that is listed, over and over up to 100, and the cursor stays, or moves each time). slow, 500, 503 and garbage come at even odds \
        before a call has its effect or after it. seed=NUMBER: the same faults for the same calls in the same order; \
        without it, one is chosen and logged. path=NAME|NAME: only these calls, of \(FaultPoint.list); without it all \
        of them, but never those below /sandbox/. Such as \
        slow=0.1:200ms,drop-after=0.05,500=0.1,duplicate=0.2,seed=42.
        """

    private(set) var slow = Odds.never
    /// The delay of a slow call.
    private(set) var delay: Duration = .zero
    private(set) var endings: [Ending: Odds] = [:]
    /// The value of Retry-After, in seconds.
    private(set) var retryAfter: Int64 = 0
    private(set) var duplicate = Odds.never
    private(set) var reorder = Odds.never
    private(set) var relist: [Relisting: Odds] = [:]
    private(set) var points = Set(FaultPoint.allCases)
    private(set) var seed: UInt64
    /// The text as given, with the seed.
    private(set) var text: String

    package init(_ text: String) throws(ParseError) {
        seed = .random(in: .min ... .max)
        self.text = text
        var names: Set<Substring> = []
        for entry in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else {
                throw ParseError(description: "\"\(entry)\" must be NAME=VALUE, such as 500=0.1")
            }
            guard names.insert(parts[0]).inserted else { throw Self.refusal(parts[0], "is set twice") }
            try read(parts[0], parts[1])
        }
        guard !names.subtracting(["path", "seed"]).isEmpty else {
            throw ParseError(description: "no kind of fault is named, such as 500=0.1")
        }
        guard endings.values.reduce(0, { $0 + $1.millionths }) <= Odds.whole else {
            let list = Ending.allCases.map(\.rawValue).joined(separator: ", ")
            throw ParseError(description: "a call gets one of \(list): together their odds must not be more than 1")
        }
        if !names.contains("seed") { self.text += ",seed=\(seed)" }
    }

    private mutating func read(_ name: Substring, _ value: Substring) throws(ParseError) {
        switch name {
        case "slow": (slow, delay) = try Self.timed(name, value, as: FaultTime.delay)
        case "duplicate": duplicate = try Self.odds(name, value)
        case "reorder": reorder = try Self.odds(name, value)
        case "path": points = try Self.points(value)
        case "seed": seed = try Self.seed(value)
        default:
            if let relisting = Relisting(rawValue: String(name)) {
                relist[relisting] = try Self.odds(name, value)
                return
            }
            guard let ending = Ending(rawValue: String(name)) else {
                let allowed =
                    ["slow"] + Ending.allCases.map(\.rawValue) + ["duplicate", "reorder"]
                    + Relisting.allCases.map(\.rawValue) + ["path", "seed"]
                let advice = NearestName.advice(for: String(name), among: allowed)
                throw Self.refusal(name, "no such name; \(advice)")
            }
            if ending == .unavailableForNow {
                (endings[ending], retryAfter) = try Self.timed(name, value, as: FaultTime.retryAfter)
            } else {
                endings[ending] = try Self.odds(name, value)
            }
        }
    }

    private static func odds(_ name: Substring, _ value: Substring) throws(ParseError) -> Odds {
        guard let odds = Odds(value) else {
            throw refusal(name, "must be odds of 0 to 1 in at most six decimals, such as 0.1")
        }
        return odds
    }

    private static func timed<Time>(
        _ name: Substring, _ value: Substring, as kind: FaultTime<Time>
    ) throws(ParseError) -> (Odds, Time) {
        let parts = value.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let time = kind.read(parts[1]) else {
            throw refusal(name, "must be ODDS:TIME, such as 0.1:2s, with a time of \(kind.allowed)")
        }
        return (try odds(name, parts[0]), time)
    }

    private static func points(_ value: Substring) throws(ParseError) -> Set<FaultPoint> {
        let names = value.split(separator: "|", omittingEmptySubsequences: false)
        let points = Set(names.compactMap { FaultPoint(rawValue: String($0)) })
        guard points.count == names.count else {
            throw refusal("path", "must be names joined by |, each once, of \(FaultPoint.list)")
        }
        return points
    }

    private static func seed(_ value: Substring) throws(ParseError) -> UInt64 {
        guard Odds.isDigits(value), let seed = UInt64(value) else {
            throw refusal("seed", "must be a whole number from 0 to \(UInt64.max)")
        }
        return seed
    }

    private static func refusal(_ place: Substring, _ problem: String) -> ParseError {
        ParseError(description: "\(place): \(problem)")
    }
}
