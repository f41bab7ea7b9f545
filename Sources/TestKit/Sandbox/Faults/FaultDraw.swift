/// The faults drawn for one call.
struct FaultDraw: Sendable {
    struct Pause: Sendable {
        let moment: Fault.Moment
        let length: Duration
    }

    static let nothing = FaultDraw()

    private(set) var pause: Pause?
    private var ending: Fault?
    private(set) var duplicates: Bool
    private(set) var reorders: Bool
    private(set) var relisting: Relisting?
    /// The generator for the order of a list.
    let generator: SplitMix64

    private init() {
        pause = nil
        ending = nil
        duplicates = false
        reorders = false
        relisting = nil
        generator = SplitMix64(seed: 0)
    }

    /// Draws from the call's own generator, so that the draws of one call do not affect the next.
    init(_ spec: FaultSpec, generator: SplitMix64) {
        var generator = generator
        let isSlow = spec.slow.hits(using: &generator)
        let pauseMoment = Self.moment(using: &generator)
        pause = isSlow ? Pause(moment: pauseMoment, length: spec.delay) : nil
        duplicates = spec.duplicate.hits(using: &generator)
        reorders = spec.reorder.hits(using: &generator)
        ending = Self.ending(spec, using: &generator).map { Self.fault($0, spec, using: &generator) }
        self.generator = generator
        relisting = Relisting.allCases.first { spec.relist[$0, default: .never].hits(using: &generator) }
    }

    /// Applies a planned fault, which overrides the drawn one.
    mutating func follow(_ planned: PlannedFault?) {
        guard let planned else { return }
        switch planned.effect {
        case .fault(let kind): ending = Fault(kind: kind, moment: planned.moment)
        case .slow(let length): pause = Pause(moment: planned.moment, length: length)
        case .duplicate: duplicates = true
        case .reorder: reorders = true
        case .relist(let relisting): self.relisting = relisting
        }
    }

    /// Returns the failure to answer with, if it is due at that moment.
    func fault(_ moment: Fault.Moment) -> Fault? { ending?.moment == moment ? ending : nil }

    private static func moment(using generator: inout SplitMix64) -> Fault.Moment {
        generator.number(below: 2) == 0 ? .before : .after
    }

    /// Draws at most one of the endings, which share the whole range of odds.
    private static func ending(_ spec: FaultSpec, using generator: inout SplitMix64) -> FaultSpec.Ending? {
        var drawn = generator.number(below: Odds.whole)
        for ending in FaultSpec.Ending.allCases {
            let share = (spec.endings[ending] ?? .never).millionths
            if drawn < share { return ending }
            drawn -= share
        }
        return nil
    }

    private static func fault(
        _ ending: FaultSpec.Ending, _ spec: FaultSpec, using generator: inout SplitMix64
    ) -> Fault {
        let moment = moment(using: &generator)
        return switch ending {
        case .dropBefore: Fault(kind: .drop, moment: .before)
        case .dropAfter: Fault(kind: .drop, moment: .after)
        case .internalError: Fault(kind: .status(500, retryAfter: nil), moment: moment)
        case .unavailable: Fault(kind: .status(503, retryAfter: nil), moment: moment)
        case .unavailableForNow: Fault(kind: .status(503, retryAfter: spec.retryAfter), moment: moment)
        case .garbage: Fault(kind: .garbage(garbage(using: &generator)), moment: moment)
        case .truncated: Fault(kind: .truncated, moment: .after)
        case .endless: Fault(kind: .endless, moment: .after)
        }
    }

    /// Returns bytes that are never UTF-8, because 0xFF never occurs in it (RFC 3629 §3).
    private static func garbage(using generator: inout SplitMix64) -> [UInt8] {
        let length = generator.number(below: 1_024)
        return [0xFF] + (0..<length).map { _ in UInt8(generator.number(below: 256)) }
    }
}
