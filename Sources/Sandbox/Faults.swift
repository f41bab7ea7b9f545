package import Logging
import StrictJSON
import Synchronization

/// All that goes wrong on purpose with the calls of the issuer protocol: what was planned, in order, and what the odds
/// give.
///
/// What is drawn depends on the seed, the call's kind, and its number among the calls of that kind alone, so that
/// another order between fetches and decisions leaves each as it was.
package final class Faults: Sendable {
    private struct Planned { let point: FaultPoint; let fault: Fault }

    private struct State {
        var planned: [Planned] = []
        var generators: [FaultPoint: SplitMix64] = [:]
        var calls: [FaultPoint: Int] = [:]
        var happened = 0
    }

    private static let maxPlanned = 10_000

    private let spec: FaultSpec?
    private let sleep: @Sendable (Duration) async throws -> Void
    private let logger: Logger
    private let state: Mutex<State>

    package init(
        _ spec: FaultSpec?, sleep: @escaping @Sendable (Duration) async throws -> Void, logger: Logger
    ) {
        self.spec = spec
        self.sleep = sleep
        self.logger = logger
        var state = State()
        for point in spec?.points ?? [] {
            state.generators[point] = SplitMix64(seed: spec?.seed ?? 0, name: point.rawValue)
        }
        self.state = Mutex(state)
        if let spec { logger.info("there will be faults", metadata: ["seed": "\(spec.seed)"]) }
    }

    /// What goes out for a call of which `processing` makes the answer.
    package func answer(at point: FaultPoint, processing: () async -> Answer) async -> Answer {
        let (call, draw) = draw(point)
        await hold(draw, .before, call)
        if let fault = take(point, .before) ?? draw.fault(.before) {
            note(fault.kind.description, .before, call)
            await hold(draw, .after, call)
            return fault.answer(insteadOf: .noContent)
        }
        let answer = disturb(await processing(), draw, call)
        await hold(draw, .after, call)
        if let fault = take(point, .after) ?? draw.fault(.after) {
            note(fault.kind.description, .after, call)
            return fault.answer(insteadOf: answer)
        }
        return answer
    }

    private func draw(_ point: FaultPoint) -> (call: String, draw: FaultDraw) {
        state.withLock { state in
            state.calls[point, default: 0] += 1
            let own = state.generators[point]?.next()
            let draw = spec.flatMap { spec in own.map { FaultDraw(spec, generator: SplitMix64(seed: $0)) } }
            return ("\(point.rawValue) \(state.calls[point, default: 0])", draw ?? .nothing)
        }
    }

    private func hold(_ draw: FaultDraw, _ moment: Fault.Moment, _ call: String) async {
        guard let pause = draw.pause, pause.moment == moment else { return }
        note("slow", moment, call)
        // The wait ends early when the process is asked to stop.
        try? await sleep(pause.length)
    }

    private func disturb(_ answer: Answer, _ draw: FaultDraw, _ call: String) -> Answer {
        guard draw.duplicates || draw.reorders, var lists = RequestLists(of: answer) else { return answer }
        var generator = draw.generator
        if draw.duplicates, lists.duplicate() { note("duplicate", .after, call) }
        if draw.reorders, lists.reorder(using: &generator) { note("reorder", .after, call) }
        return lists.answer
    }

    private func note(_ kind: String, _ moment: Fault.Moment, _ call: String) {
        let number = state.withLock { state in
            state.happened += 1
            return state.happened
        }
        logger.info(
            "a fault on purpose",
            metadata: ["number": "\(number)", "kind": "\(kind)", "moment": "\(moment)", "call": "\(call)"])
    }

    /// Takes the next planned fault of that call, if it is one of that moment.
    private func take(_ point: FaultPoint, _ moment: Fault.Moment) -> Fault? {
        state.withLock { state in
            guard let index = state.planned.firstIndex(where: { $0.point == point }),
                state.planned[index].fault.moment == moment
            else { return nil }
            return state.planned.remove(at: index).fault
        }
    }

    /// Reads `{"next": [{"path", "status", "times"?, "retryAfter"?, "moment"?}]}` and plans what it says.
    ///
    /// Returns how many failures are planned now.
    func plan(_ body: JSONObject) throws -> Int {
        var faults: [Planned] = []
        for case .object(let entry) in try Self.entries(body) {
            let (fault, times) = try Self.read(entry)
            guard faults.count + times <= Self.maxPlanned else {
                throw SandboxRefusal.badRequest("next: at most \(Self.maxPlanned) failures")
            }
            faults += Array(repeating: fault, count: times)
        }
        return try state.withLock { state in
            guard state.planned.count + faults.count <= Self.maxPlanned else {
                throw SandboxRefusal.badRequest("next: at most \(Self.maxPlanned) failures at a time")
            }
            state.planned += faults
            return state.planned.count
        }
    }

    private static func entries(_ body: JSONObject) throws -> [JSONValue] {
        let entries = try body.array("next", count: 0...1_000)
        guard entries.allSatisfy({ if case .object = $0 { true } else { false } }) else {
            throw SandboxRefusal.badRequest("next: must be an array of objects")
        }
        return entries
    }

    private static func read(_ entry: JSONObject) throws -> (Planned, times: Int) {
        let point: FaultPoint = try entry.choice("path")
        let status = Int(try entry.integer("status", in: 300...599))
        let retryAfter = try entry.optionalInteger("retryAfter", in: 0...86_400)
        let moment: Fault.Moment = try entry.optionalChoice("moment") ?? .before
        let fault = Fault(kind: .status(status, retryAfter: retryAfter), moment: moment)
        return (Planned(point: point, fault: fault), Int(try entry.optionalInteger("times", in: 1...10_000) ?? 1))
    }
}
