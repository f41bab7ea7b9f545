import GRDB
import Logging
import StrictJSON
import TextAndTime

/// Reports the sandbox's time, and moves a test clock ahead.
struct ClockController: Sendable {
    let backend: IssuerBackend

    func show(_ incoming: Incoming) async throws -> Answer { answer }

    /// Moves the clock ahead: `{"advanceSeconds": 600}`.
    func advance(_ incoming: Incoming) async throws -> Answer {
        let body = try incoming.object()
        try body.refuseMembers(except: ["advanceSeconds"])
        let seconds = try body.integer("advanceSeconds", in: 1...ClockAdvance.maxOffset)
        guard let clock = backend.clock else {
            throw SandboxError.conflict(
                "this sandbox's clock is the machine's; oob-issuer serve --test-clock starts one whose clock can be moved"
            )
        }
        let offset = try await backend.store.queue.write { db in
            let offset = try Self.offset(seconds, after: ClockOffset.stored(db))
            try ClockOffset.store(offset, db)
            return offset
        }
        // Another advance may have come meanwhile: the clock keeps the greater offset, which is the later one's.
        clock.move(to: offset)
        // Renewals that are now due are made before the waiters are woken, so that the waiters find them.
        try await DecoupledRenewals(backend: backend).run()
        backend.notifier.ringAll()
        backend.logger.info("the test clock was moved", metadata: ["offsetSeconds": "\(offset)"])
        return answer
    }

    private static func offset(_ seconds: Int64, after offset: Int64) throws(SandboxError) -> Int64 {
        do throws(ClockAdvance.Refusal) {
            return try ClockAdvance(seconds: seconds).added(to: offset)
        } catch { throw .conflict("advanceSeconds: \(error); this one is \(ClockAdvance.text(offset)) ahead already") }
    }

    private var answer: Answer {
        let offset = backend.clock?.offset ?? 0
        return .json(
            200,
            ["isTest": .bool(backend.clock != nil), "offsetSeconds": .integer(offset), "now": .time(backend.now)])
    }
}
