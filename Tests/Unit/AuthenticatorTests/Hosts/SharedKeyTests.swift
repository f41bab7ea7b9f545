#if PostgreSQL
import Custody
import Dispatch
import Keys
import ScratchDirectories
import StoreTables
import TestStores
import Testing

@testable import Authenticator
@testable import Records

/// Keys that one of two hosts made, on one PostgreSQL.
@Suite(.timeLimit(.minutes(20)))
struct SharedKeyTests {
    private let alpha: SampleAgent
    private let beta: SampleAgent

    init() throws {
        (alpha, beta) = try StoreKind.$current.withValue(.postgres) {
            let alpha = try SampleAgent()
            return (alpha, try alpha.neighbour("beta"))
        }
    }

    @Test func `every host approves with a key that one of them made`() async throws {
        let card = try await alpha.enrolled()
        for (number, host) in [(1, alpha), (2, beta), (3, alpha)] {
            try await host.receive(.numbered(number), for: card)
            let id = try #require(try await host.requests().last?.id)
            #expect(try await host.approve(id).life.state == .approved)
        }
        #expect(try await alpha.outbox(of: card).compactMap(\.signCount) == [1, 2, 3])
    }

    @Test func `a PIN that was changed on one host is changed on all at once`() async throws {
        let (card, request) = try await alpha.enrolledWithPIN()
        let new = try PIN(Secret(Array("2468".utf8)))
        #expect(try await beta.refusal(of: request, pin: .wrong)?.code == .userNotVerified)
        try await alpha.agent.changePIN(of: card.id, from: .right, to: new)
        #expect(try await beta.refusal(of: request, pin: .right)?.code == .userNotVerified)
        #expect(try await beta.refusal(of: request, pin: new) == nil)
    }

    @Test func `of two hosts that change a PIN at once one does, and the other says so`() async throws {
        let (card, request) = try await alpha.enrolledWithPIN()
        let pins = try ["2468", "1357"].map { try PIN(Secret(Array($0.utf8))) }
        // Beta changes it while alpha has opened the key.
        alpha.custody.beforeOpening { [beta] in
            try await beta.agent.changePIN(of: card.id, from: .right, to: pins[1])
        }
        #expect(
            try await failureCode { try await alpha.agent.changePIN(of: card.id, from: .right, to: pins[0]) } == .failed
        )
        alpha.custody.beforeOpening(nil)
        #expect(try await beta.refusal(of: request, pin: pins[0])?.code == .userNotVerified)
        #expect(try await alpha.refusal(of: request, pin: pins[1]) == nil)
    }

    @Test func `a try that another host counts while all are sealed anew is not lost`() async throws {
        let key = try #require(KeyIdentity(bytes: Array(repeating: 7, count: 32)))
        let once = PINTries(failures: 1, blockedUntil: nil, underWay: nil)
        let twice = PINTries(failures: 2, blockedUntil: nil, underWay: nil)
        try await beta.store.write { _ = try $0.setPINTries(of: key, from: .fresh, to: once) }
        let (isCounted, release) = (AsyncStream.makeStream(of: Void.self), DispatchSemaphore(value: 0))
        async let counting: Void = beta.store.real.write { store in
            _ = try store.setPINTries(of: key, from: once, to: twice)
            isCounted.continuation.finish()
            release.wait()
        }
        for await _ in isCounted.stream {}
        async let sealing = alpha.store.real.write { try $0.resealPINTries(after: nil, limit: 9) }
        while try lockWaits(at: "\(alpha.directory.path)/store.sqlite") == 0 { await Task.yield() }
        release.signal()
        _ = try await (counting, sealing)
        #expect(try await alpha.store.real.read { try $0.pinTries(of: key) } == twice)
    }

    @Test func `a host that starts leaves the tries that are under way at another host`() async throws {
        for (host, name) in [(alpha, "one"), (beta, "two")] {
            try await host.agent.prepare()
            // Its journal begins.
            _ = try await host.enrolled(name)
        }
        let key = try #require(KeyIdentity(bytes: Array(repeating: 7, count: 32)))
        let begun = PINTries(failures: 1, blockedUntil: nil, underWay: "beta")
        try await beta.store.write { _ = try $0.setPINTries(of: key, from: .fresh, to: begun) }
        let (newAlpha, newBeta) = try StoreKind.$current.withValue(.postgres) {
            (try alpha.restarted(), try alpha.neighbour("beta"))
        }
        try await newAlpha.agent.prepare()
        #expect(try await alpha.store.real.read { try $0.pinTries(of: key) } == begun)
        try await newBeta.agent.prepare()
        let left = try await alpha.store.real.read { try $0.pinTries(of: key) }
        #expect(left == begun.settled)
    }
}
#endif
