package import Logging
import StrictJSON
import Synchronization

/// The injected faults of the issuer protocol's calls: planned faults, in order, and faults drawn by odds.
///
/// A draw depends only on the seed, the call's kind, and the call's number among the calls of that kind. So another
/// order of fetches and decisions does not change the faults of either.
package final class Faults: Sendable {
    private struct State {
        var spec: FaultSpec?
        var planned: [PlannedFault] = []
        var generators: [FaultPoint: SplitMix64] = [:]
        var calls: [FaultPoint: Int] = [:]
        var happened = 0
    }

    private let sleep: @Sendable (Duration) async throws -> Void
    private let logger: Logger
    private let state: Mutex<State>

    package init(
        _ spec: FaultSpec?, sleep: @escaping @Sendable (Duration) async throws -> Void, logger: Logger
    ) {
        self.sleep = sleep
        self.logger = logger
        state = Mutex(State())
        set(spec)
    }

    /// Replaces the odds and restarts their draws; without a specification, there are none.
    private func set(_ spec: FaultSpec?) {
        state.withLock { state in
            state.spec = spec
            state.generators = [:]
            for point in spec?.points ?? [] {
                state.generators[point] = SplitMix64(seed: spec?.seed ?? 0, name: point.rawValue)
            }
        }
        if let spec { logger.info("there will be faults", metadata: ["seed": "\(spec.seed)"]) }
    }

    /// Answers a call through `processing`, with the faults that are due.
    func answer(
        at point: FaultPoint, to incoming: Incoming, processing: (Incoming) async -> Answer
    ) async -> Answer {
        var (call, draw) = draw(point)
        draw.follow(takePlanned(for: point, at: .before))
        await delay(call, by: draw, at: .before)
        if let fault = draw.fault(.before) {
            report(fault.kind.description, at: .before, of: call)
            await delay(call, by: draw, at: .after)
            return fault.answer(insteadOf: .noContent)
        }
        var answer = await processing(draw.relisting == nil ? incoming : incoming.fromTheStart)
        draw.follow(takePlanned(for: point, at: .after))
        answer = disturb(answer, to: incoming, by: draw, of: call)
        await delay(call, by: draw, at: .after)
        guard let fault = draw.fault(.after) else { return answer }
        report(fault.kind.description, at: .after, of: call)
        return fault.answer(insteadOf: answer)
    }

    /// A call's kind and number, for the log and for faults that depend on the number.
    private struct Numbered: CustomStringConvertible {
        let point: FaultPoint
        let number: Int
        var description: String { "\(point.rawValue) \(number)" }
    }

    private func draw(_ point: FaultPoint) -> (call: Numbered, draw: FaultDraw) {
        state.withLock { state in
            state.calls[point, default: 0] += 1
            let own = state.generators[point]?.next()
            let draw = state.spec.flatMap { spec in own.map { FaultDraw(spec, generator: SplitMix64(seed: $0)) } }
            return (Numbered(point: point, number: state.calls[point, default: 0]), draw ?? .nothing)
        }
    }

    private func delay(_ call: Numbered, by draw: FaultDraw, at moment: Fault.Moment) async {
        guard let pause = draw.pause, pause.moment == moment else { return }
        report("slow", at: moment, of: call)
        // The sleep ends early when the process is asked to stop.
        try? await sleep(pause.length)
    }

    private func disturb(
        _ answer: Answer, to incoming: Incoming, by draw: FaultDraw, of call: Numbered
    ) -> Answer {
        var answer = answer
        if let relisting = draw.relisting {
            report(relisting.rawValue, at: .before, of: call)
            answer = relisting.answer(answer, to: incoming, number: call.number)
        }
        guard draw.duplicates || draw.reorders, var lists = RequestLists(of: answer) else { return answer }
        var generator = draw.generator
        if draw.duplicates, lists.duplicate() { report("duplicate", at: .after, of: call) }
        if draw.reorders, lists.reorder(using: &generator) { report("reorder", at: .after, of: call) }
        return lists.answer
    }

    private func report(_ kind: String, at moment: Fault.Moment, of call: Numbered) {
        let number = state.withLock { state in
            state.happened += 1
            return state.happened
        }
        logger.info(
            "a fault on purpose",
            metadata: ["number": "\(number)", "kind": "\(kind)", "moment": "\(moment)", "call": "\(call)"])
    }

    /// Takes the next planned fault of that kind of call, if it is due at that moment.
    private func takePlanned(for point: FaultPoint, at moment: Fault.Moment) -> PlannedFault? {
        state.withLock { state in
            guard let index = state.planned.firstIndex(where: { $0.point == point }),
                state.planned[index].moment == moment
            else { return nil }
            return state.planned.remove(at: index)
        }
    }

    /// The pending plan, in order, and the odds in the form to set them again: `{"planned", "next", "odds"?}`.
    var json: JSONObject {
        let (planned, spec) = state.withLock { ($0.planned, $0.spec) }
        var json: JSONObject = [
            "planned": .integer(Int64(planned.count)), "next": PlannedFault.list(planned),
        ]
        json["odds"] = spec.map { .string($0.text) }
        return json
    }

    /// Clears the plan, and the odds if `andOdds` is true; returns the number of planned faults cleared.
    func clear(andOdds: Bool) -> Int {
        if andOdds { set(nil) }
        return state.withLock { state in
            defer { state.planned = [] }
            return state.planned.count
        }
    }

    /// Appends to the plan, sets the odds if the order has some, and returns the number of planned faults.
    func plan(_ order: FaultOrder) throws(SandboxError) -> Int {
        let planned = try state.withLock { state throws(SandboxError) in
            guard state.planned.count + order.plan.count <= PlannedFault.maxPlanned else {
                throw .badRequest("next: at most \(PlannedFault.maxPlanned) failures at a time")
            }
            state.planned += order.plan
            return state.planned.count
        }
        if let odds = order.odds { set(odds) }
        return planned
    }
}
