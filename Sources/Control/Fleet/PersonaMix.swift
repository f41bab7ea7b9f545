internal import StrictJSON
internal import ThreeDS

/// Which persona plays each of many enrollments: by odds and a seed.
///
/// The persona of a number depends on the seed, the shares and the number alone: a run that goes on where another was
/// interrupted draws the same.
package struct PersonaMix: Sendable, Equatable {
    /// A persona, when it answers, and in how many of a million cases it is drawn.
    package struct Share: Sendable, Equatable {
        package let persona: String
        /// The seconds after which it answers; nil: at once.
        package let delay: Int?
        let millionths: UInt64
    }

    package static let seeds = 0...Int(UInt32.max)
    package static let delays = 0...86_400
    private static let whole: UInt64 = 1_000_000
    private static let maxShares = 64
    private static let form =
        "NAME=ODDS or NAME@SECONDS=ODDS, with commas between, such as autoApprove=0.9,autoDeny=0.1"

    package let shares: [Share]
    package let seed: Int

    /// - Parameter text: `NAME=ODDS` or `NAME@SECONDS=ODDS`, with commas between. The odds are above 0, have at most six
    ///   decimals and sum to at most 1; what is left to 1 has no persona.
    /// - Throws: `ControlError` that names the share that is wrong.
    package init(_ text: String, seed: Int) throws(ControlError) {
        guard Self.seeds.contains(seed) else {
            throw ControlError(.invalidArgument, "--seed takes 0 to \(Self.seeds.upperBound).")
        }
        var shares: [Share] = []
        for part in text.split(separator: ",", maxSplits: Self.maxShares, omittingEmptySubsequences: false) {
            let share = try Self.share(part)
            guard !shares.contains(where: { $0.persona == share.persona && $0.delay == share.delay }) else {
                throw Self.error(part, "this persona is given twice")
            }
            shares.append(share)
        }
        guard shares.count <= Self.maxShares else {
            throw ControlError(.invalidArgument, "--personas takes \(Self.maxShares) personas at most.")
        }
        let sum = shares.reduce(0) { $0 + $1.millionths }
        guard sum <= Self.whole else {
            throw ControlError(
                .invalidArgument, "--personas: the odds sum to \(Self.text(sum)), and 1 is the most that is allowed.")
        }
        self.shares = shares
        self.seed = seed
    }

    /// Who plays the enrollment of this number; nil: nobody.
    package func persona(of number: Int) -> PersonaCommand? {
        var drawn = draw(number)
        for share in shares {
            if drawn < share.millionths { return PersonaCommand(persona: share.persona, delay: share.delay) }
            drawn -= share.millionths
        }
        return nil
    }

    /// - Throws: `ControlError` if a persona is not among those that the agent has.
    package func check(among known: [String]) throws(ControlError) {
        for share in shares where !known.contains(share.persona) {
            let advice = NearestName.advice(for: share.persona, among: known)
            throw ControlError(
                .invalidArgument, "--personas: there is no persona \(share.persona.debugDescription); \(advice).")
        }
    }

    /// Below a million: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) at the place of the number, from a state that the
    /// seed gives.
    private func draw(_ number: Int) -> UInt64 {
        let state = Self.mixed(UInt64(truncatingIfNeeded: seed) &+ Self.step)
        let place = UInt64(truncatingIfNeeded: number) &* Self.step
        return Self.mixed(state &+ place).multipliedFullWidth(by: Self.whole).high
    }

    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    private static func mixed(_ state: UInt64) -> UInt64 {
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    // MARK: Reading

    private static func share(_ text: Substring) throws(ControlError) -> Share {
        let halves = text.split(separator: "=", omittingEmptySubsequences: false)
        guard halves.count == 2 else { throw error(text, "a share is \(form)") }
        let names = halves[0].split(separator: "@", omittingEmptySubsequences: false)
        guard (1...2).contains(names.count), let name = names.first, !name.isEmpty, name.utf8.count <= 64 else {
            throw error(text, "a share is \(form)")
        }
        var delay: Int?
        if names.count == 2 {
            guard isDigits(names[1]), let seconds = Int(names[1]), delays.contains(seconds) else {
                throw error(text, "the seconds after @ must be \(delays.lowerBound) to \(delays.upperBound)")
            }
            delay = seconds
        }
        guard let millionths = millionths(halves[1]), millionths > 0 else {
            throw error(text, "the odds must be above 0 and at most 1, with six decimals at most, such as 0.05")
        }
        return Share(persona: String(name), delay: delay, millionths: millionths)
    }

    /// `0`, `1` and what lies between in decimals, at most six of them; nil for anything else.
    private static func millionths(_ text: Substring) -> UInt64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy(isDigits), parts[0].utf8.count == 1,
            let units = UInt64(parts[0])
        else { return nil }
        let decimals = parts.count == 2 ? String(parts[1]) : "0"
        guard decimals.utf8.count <= 6,
            let fraction = UInt64(decimals + String(repeating: "0", count: 6 - decimals.utf8.count))
        else { return nil }
        let millionths = units * whole + fraction
        return millionths <= whole ? millionths : nil
    }

    private static func isDigits(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Millionths as a decimal number without zeros at its end.
    private static func text(_ millionths: UInt64) -> String {
        let fraction = String(millionths % whole)
        var decimals = String(repeating: "0", count: 6 - fraction.utf8.count) + fraction
        while decimals.last == "0" { decimals.removeLast() }
        return "\(millionths / whole)" + (decimals.isEmpty ? "" : ".\(decimals)")
    }

    private static func error(_ part: Substring, _ problem: String) -> ControlError {
        ControlError(.invalidArgument, "--personas: \(part.beginning(bytes: 100).debugDescription): \(problem).")
    }
}
