import IssuerProtocol
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// What a start hears of the keys.
extension KeyWatchTests {
    @Test func `while no key can be used that is said, until one can`() async throws {
        let card = try await sample.enrolled()
        let key = try await sample.replaceKey(of: card.id)
        try await sample.agent.prepare()
        try await watched { _ in
            let why = "enrollment \(card.id): \(try #require(problem(of: card)))"
            #expect(steps.value == [.lookedAtKeys(1, of: 1), .noKeyUsable(why)])
            try await sample.replaceKey(of: card.id, by: key)
            sample.clock.advance(by: KeyWatch.pauseAfterFailure)
            _ = try await nap()
            #expect(steps.value == [.lookedAtKeys(1, of: 1), .noKeyUsable(why), .keyUsable])
        }
    }

    @Test func `one of several keys that can be used is enough, also if it came later`() async throws {
        for name in ["a", "b"] {
            try await sample.replaceKey(of: try await sample.enrolled(name).id)
        }
        try await watched { _ in
            #expect(steps.value.last?.text.hasPrefix("Waiting for a key that can be used: enrollment ") == true)
            sample.agent.hub.publish(.journaled(.enrolled, of: try await sample.enrolled("c").id))
            _ = try await nap()
            #expect(steps.value.last == .keyUsable)
        }
    }

    @Test func `a start with many keys goes on once one of the first can be used, and is over after all`() async throws
    {
        for name in ["a", "b", "c", "d"] { _ = try await sample.enrolled(name) }
        try await sample.agent.prepare()
        var watch = sample.agent.keyWatch
        watch.enough = 2
        let whileStarting = Box<[StartStep]>([])
        try await sample.running([
            { [watch] in
                try await watch.run { step in
                    if sample.agent.isStarting { whileStarting.change { $0.append(step) } }
                    steps.change { $0.append(step) }
                }
            }
        ]) { _ = try await nap() }
        let looks = (1...4).map { StartStep.lookedAtKeys($0, of: 4) }
        #expect(whileStarting.value == looks.prefix(2) + [.keyUsable] + looks.dropFirst(2))
        #expect(steps.value.last == .keyUsable && steps.value.count == 6)
    }

    @Test func `other work begins once so many of the agent's own keys were looked at`() async throws {
        for name in ["a", "b", "c"] { _ = try await sample.enrolled(name) }
        try await sample.agent.prepare()
        var watch = sample.agent.keyWatch
        watch.enough = 2
        let order = Box<[String]>([])
        try await sample.running([
            { [watch] in
                try await watch.untilOwnKeysAreSeen()
                order.change { $0.append("other work") }
            },
            { [watch] in
                try await watch.run { step in
                    if case .lookedAtKeys(let done, _) = step { order.change { $0.append("key \(done)") } }
                }
            },
        ]) {
            _ = try await nap()
            while !order.value.contains("other work") { await Task.yield() }
        }
        #expect(order.value.first == "key 1")
        #expect(order.value.filter { $0 != "other work" } == ["key 1", "key 2", "key 3"])
    }

    @Test func `no enrollment takes no key, and nothing is known against one that takes a PIN`() async throws {
        try await watched { _ in #expect(steps.value == [.keyUsable]) }
        _ = try await sample.enrolled(authnType: .pin, at: try elsewhere)
        try await watched { _ in #expect(steps.value == [.keyUsable, .keyUsable]) }
        try await sample.replaceKey(of: try await sample.enrolled("b").id)
        try await watched { _ in #expect(steps.value == [.keyUsable, .keyUsable, .keyUsable]) }
    }
}
