#if Personas
import Authenticator
import Keys
import Records
import StrictJSON
import TextAndTime

/// The persona of an enrollment, with its progress.
struct PersonaSetting: Sendable, Equatable {
    static let delayRange = 0...86_400
    static let timesRange = 1...1_000_000
    static let seedRange = 0...Int(UInt32.max)

    let persona: Persona
    /// The seconds from a request to its answer.
    let delay: Int
    /// The number of requests that it answers, or `nil` for all.
    let times: Int?
    /// The probability that it answers a request, 1 for always.
    let odds: Double
    let seed: Int
    /// The number of requests that it could have answered.
    private(set) var seen = 0
    /// The number of requests that it had to answer.
    private(set) var played = 0

    init(_ order: PersonaOrder) throws(CommandError) {
        guard let persona = Persona(rawValue: order.name) else {
            let names = Persona.allCases.map(\.rawValue)
            throw CommandError(
                .invalidArgument,
                "persona: there is none of this name; \(NearestName.advice(for: order.name, among: names))")
        }
        self.persona = persona
        delay = try Self.bounded(order.delay, "delay", in: Self.delayRange) ?? 0
        times = try Self.bounded(order.times, "times", in: Self.timesRange)
        seed = try Self.bounded(order.seed, "seed", in: Self.seedRange) ?? 0
        odds = order.odds ?? 1
        guard odds > 0, odds <= 1 else {
            throw CommandError(.invalidArgument, "odds: must be above 0 and at most 1, such as 0.1")
        }
    }

    private static func bounded(_ value: Int?, _ name: String, in range: ClosedRange<Int>) throws(CommandError) -> Int?
    {
        guard let value, !range.contains(value) else { return value }
        throw CommandError(
            .invalidArgument, "\(name): must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }

    /// The reason why it does not answer the next request, or `nil` if it answers.
    var nextRefusal: String? {
        if let times, played >= times { return "the persona has answered the \(times) requests that it was set for" }
        return isDrawn ? nil : "the persona's odds of \(odds) were against it (request \(seen + 1), seed \(seed))"
    }

    mutating func use(isPlayed: Bool) {
        // The limit is far above the number of requests that an agent receives.
        seen = min(seen + 1, Int(UInt32.max))
        if isPlayed { played += 1 }
    }

    /// Deterministic: depends only on the seed and on the number of the request.
    private var isDrawn: Bool {
        guard odds < 1, let digest = try? SHA256Digest.of(Array("\(seed):\(seen)".utf8)) else { return true }
        let bits = digest.prefix(6).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Double(bits) / Double(1 << 48) < odds
    }

    var order: PersonaOrder {
        PersonaOrder(
            name: persona.rawValue, delay: delay, times: times, odds: odds == 1 ? nil : odds,
            seed: odds == 1 ? nil : seed)
    }

    // MARK: As it is kept

    static let limits = JSONLimits(maxBytes: 4_096, maxDepth: 1, maxValues: 16)

    var document: String {
        // 0 stands for no `times`.
        let object: JSONObject = [
            "persona": .string(persona.rawValue), "delay": .integer(Int64(delay)),
            "times": .integer(Int64(times ?? 0)), "odds": .string("\(odds)"), "seed": .integer(Int64(seed)),
            "seen": .integer(Int64(seen)), "played": .integer(Int64(played)),
        ]
        return String(decoding: object.serialized(), as: UTF8.self)
    }

    /// Returns `nil` for a document that this version cannot have written.
    init?(document: String) {
        guard let object = try? JSONReader.object(Array(document.utf8), limits: Self.limits),
            let name = try? object.string("persona"), let odds = try? object.string("odds"),
            let numbers = try? ["delay", "times", "seed", "seen", "played"].map({
                try object.integer($0, in: 0...Int64(UInt32.max))
            }).map(Int.init)
        else { return nil }
        let order = PersonaOrder(
            name: name, delay: numbers[0], times: numbers[1] == 0 ? nil : numbers[1], odds: Double(odds),
            seed: numbers[2])
        guard let setting = try? PersonaSetting(order) else { return nil }
        self = setting
        (seen, played) = (numbers[3], numbers[4])
    }
}
#endif
