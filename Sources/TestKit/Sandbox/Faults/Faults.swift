package import Logging
import StrictJSON
import Synchronization

/// All that goes wrong on purpose with the calls of the issuer protocol: what was planned, in order, and what the odds
/// give.
///
/// What is drawn depends on the seed, the call's kind, and its number among the calls of that kind alone, so that
/// another order between fetches and decisions leaves each as it was.
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

    /// The odds from now on, which begin anew; nil: none.
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

    /// What goes out for a call of which `processing` makes the answer.
    func answer(
        at point: FaultPoint, to incoming: Incoming, processing: (Incoming) async -> Answer
    ) async -> Answer {
        var (call, draw) = draw(point)
        draw.follow(takePlanned(for: point, at: .before))
        await hold(call, by: draw, at: .before)
        if let fault = draw.fault(.before) {
            report(fault.kind.description, at: .before, of: call)
            await hold(call, by: draw, at: .after)
            return fault.answer(insteadOf: .noContent)
        }
        var answer = await processing(draw.relisting == nil ? incoming : incoming.fromTheStart)
        draw.follow(takePlanned(for: point, at: .after))
        answer = disturb(answer, to: incoming, by: draw, of: call)
        await hold(call, by: draw, at: .after)
        guard let fault = draw.fault(.after) else { return answer }
        report(fault.kind.description, at: .after, of: call)
        return fault.answer(insteadOf: answer)
    }

    /// One call, for the log and for what goes by its number.
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

    private func hold(_ call: Numbered, by draw: FaultDraw, at moment: Fault.Moment) async {
        guard let pause = draw.pause, pause.moment == moment else { return }
        report("slow", at: moment, of: call)
        // The wait ends early when the process is asked to stop.
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

    /// Takes what is planned next for that call, if it is for that moment.
    private func takePlanned(for point: FaultPoint, at moment: Fault.Moment) -> PlannedFault? {
        state.withLock { state in
            guard let index = state.planned.firstIndex(where: { $0.point == point }),
                state.planned[index].moment == moment
            else { return nil }
            return state.planned.remove(at: index)
        }
    }

    /// `{"planned", "next", "odds"?}`: what is planned and has not happened yet, in the order in which it was planned,
    /// and the odds as they can be set again.
    var json: JSONObject {
        let (planned, spec) = state.withLock { ($0.planned, $0.spec) }
        var json: JSONObject = [
            "planned": .integer(Int64(planned.count)), "next": PlannedFault.list(planned),
        ]
        json["odds"] = spec.map { .string($0.text) }
        return json
    }

    /// Forgets what is planned, and returns how many failures that were; the odds stay unless they are to go as well.
    func clear(andOdds: Bool) -> Int {
        if andOdds { set(nil) }
        return state.withLock { state in
            defer { state.planned = [] }
            return state.planned.count
        }
    }

    /// Plans what is ordered, sets the odds if it has some, and returns how many failures are planned now.
    func take(_ order: FaultOrder) throws(SandboxError) -> Int {
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
