import IssuerProtocol
import Testing

@testable import Authenticator
@testable import Records

/// Of several who ask for the same, each waits only as long as it wants to.
@Suite(.timeLimit(.minutes(20)))
struct SharedCallTests {
    private let shared = SharedCall<Int, Int>()

    @Test func `whoever waits and is cancelled leaves at once, and the call goes on for the others`() async throws {
        let (begun, gate) = (Channel<Void>(), Channel<Int>())
        async let maker = shared.value(for: 7) { () throws(IssuerError) in
            begun.send(())
            return try await gate.answer()
        }
        try await begun.next()
        await withTaskGroup { group in
            group.addTask { [shared] in
                await #expect(throws: IssuerError.self) {
                    try await shared.value(for: 7) { () throws(IssuerError) in 0 }
                }
            }
            while shared.waiterCount(for: 7) < 1, !Task.isCancelled { await Task.yield() }
            group.cancelAll()
        }
        #expect(shared.waiterCount(for: 7) == 0)
        gate.send(1)
        #expect(try await maker == 1)
    }

    @Test func `if the one who makes the call is cancelled, the next one makes it and nobody fails for that`()
        async throws
    {
        let (begun, gate) = (Channel<Void>(), Channel<Int>())
        let answers = try await withThrowingTaskGroup(of: Int.self) { others in
            await withTaskGroup { makers in
                makers.addTask { [shared] in
                    await #expect(throws: IssuerError.self) {
                        try await shared.value(for: 7) { () throws(IssuerError) in
                            begun.send(())
                            throw await .waitingWasCancelled
                        }
                    }
                }
                try? await begun.next()
                for _ in 1...2 {
                    others.addTask { [shared] in
                        try await shared.value(for: 7) { () throws(IssuerError) in try await gate.answer() }
                    }
                }
                while shared.waiterCount(for: 7) < 2, !Task.isCancelled { await Task.yield() }
                makers.cancelAll()
            }
            gate.send(3)
            return try await others.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == [3, 3])
    }
}
