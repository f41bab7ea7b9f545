import IssuerProtocol
import Keys
import Logging
import ScratchDirectories
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// Keys are looked at in the background.
@Suite(.timeLimit(.minutes(20)))
struct KeyWatchTests {
    let sample: SampleAgent
    private let log = WrittenLog()
    /// What the watch has told.
    let steps = Box<[StartStep]>([])

    init() throws { sample = try SampleAgent().restarted(log: log.logger) }

    /// Runs the body while the watch works; it begins when all keys were looked at once.
    func watched(_ body: (_ firstNap: Double) async throws -> Void) async throws {
        try await sample.running([{ try await sample.agent.keyWatch.run { step in steps.change { $0.append(step) } } }])
        { try await body(try await nap()) }
    }

    /// How long the watch lies down for: a minute, or nearly a day; others sleep for other times.
    func nap() async throws -> Double {
        while true {
            let seconds = try await sample.clock.naps.next()
            if seconds == KeyWatch.pauseAfterFailure || seconds > KeyWatch.pause / 2 { return seconds }
        }
    }

    func problem(of card: SampleEnrollment) -> String? { sample.agent.keyTest(of: card.id)?.problem }

    @Test func `after the start each key has been looked at, and no more of it than the seal shows`() async throws {
        let cards = [try await sample.enrolled("a"), try await sample.enrolled("b")]
        try await watched { first in
            #expect(first == KeyWatch.pause)
            let passed = KeyTest(extent: .seal, at: sample.now, problem: nil)
            #expect(cards.map { sample.agent.keyTest(of: $0.id) } == [passed, passed])
            #expect(sample.custody.proofs.value == 0, "no key is opened that nobody uses")
        }
    }

    @Test func `a key that does not open is found, said once, and in order when it is back`() async throws {
        let (gone, card) = (try await sample.enrolled("a"), try await sample.enrolled("b"))
        let key = try await sample.replaceKey(of: gone.id)
        try await watched { first in
            #expect(first == KeyWatch.pauseAfterFailure)
            #expect(problem(of: gone)?.contains("not in the form that this program seals") == true)
            #expect(sample.agent.keyTest(of: gone.id)?.extent == .seal && problem(of: card) == nil)
            sample.clock.advance(by: first)
            let again = try await nap()
            #expect(again == KeyWatch.pauseAfterFailure)
            #expect(log.lines(.error) == ["a key cannot be used"])
            try await sample.replaceKey(of: gone.id, by: key)
            sample.clock.advance(by: first)
            let last = try await nap()
            #expect(last == KeyWatch.pause - 2 * first)
            #expect(problem(of: gone) == nil && log.lines(.notice) == ["a key can be used again"])
        }
    }

    @Test func `what failed at an approval is looked at again at once, and then once a minute`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        try await watched { _ in
            let key = try await sample.replaceKey(of: card.id)
            let code = try await failureCode { try await sample.approve(id) }
            let next = try await nap()
            #expect(code == .keyUnavailable && next == KeyWatch.pauseAfterFailure)
            try await sample.replaceKey(of: card.id, by: key)
            sample.clock.advance(by: KeyWatch.pauseAfterFailure)
            let last = try await nap()
            #expect(last == KeyWatch.pause - KeyWatch.pauseAfterFailure)
            let passed = KeyTest(extent: .signature, at: sample.now, problem: nil)
            #expect(
                sample.agent.keyTest(of: card.id) == passed, "after a failure only a signature shows that it is well")
        }
    }

    @Test func `however many keys fail, there is one line in the log`() async throws {
        for name in ["a", "b", "c"] {
            try await sample.replaceKey(of: try await sample.enrolled(name).id)
        }
        try await watched { _ in #expect(log.lines(.error) == ["a key cannot be used"]) }
    }

    /// A file that is not there.
    var elsewhere: KeyPlace {
        get throws {
            let uri = try KeyURI("file:\(sample.directory.path)/none.pem")
            let publicKey = try SigningKey.generate(.es256).publicKey
            let facts = ExternalKeyFacts(kind: .file, publicKey: publicKey, isExportable: true)
            return KeyPlace.external(ExternalKey(uri: uri, facts: facts))
        }
    }

    @Test func `no key is looked at if that could cost a try, and one without a PIN is`() async throws {
        let place = try elsewhere
        let withPIN = try await sample.enrolled("a", authnType: .pin, at: place)
        let without = try await sample.enrolled("b", at: place)
        try await watched { _ in
            #expect(sample.agent.keyTest(of: withPIN.id) == nil)
            #expect(problem(of: without)?.contains("none.pem") == true)
        }
    }

    @Test func `a key that takes a PIN by now cannot be used by an enrollment without one`() async throws {
        let card = try await sample.enrolled("a", at: try elsewhere)
        sample.custody.beforeOpening { throw CustodyError(.needsPIN, "the key none.pem takes a PIN") }
        try await watched { first in
            #expect(first == KeyWatch.pauseAfterFailure && problem(of: card) == "the key none.pem takes a PIN")
        }
    }

    @Test func `a key that stays unusable does not keep the others from their daily look`() async throws {
        let (gone, card) = (try await sample.enrolled("a"), try await sample.enrolled("b"))
        try await sample.replaceKey(of: gone.id)
        try await watched { _ in
            try await sample.replaceKey(of: card.id)
            sample.clock.advance(by: KeyWatch.pauseAfterFailure)
            _ = try await nap()
            #expect(problem(of: card) == nil, "after a minute those are looked at that failed")
            sample.clock.advance(by: KeyWatch.pause)
            _ = try await nap()
            #expect(problem(of: card)?.contains("not in the form that this program seals") == true)
        }
    }

    @Test func `a clock that is set back does not put off the look at all keys`() async throws {
        let card = try await sample.enrolled()
        try await watched { _ in
            try await sample.replaceKey(of: card.id)
            sample.clock.advance(by: -9 * KeyWatch.pause)
            sample.agent.hub.publish(.journaled(.enrolled, of: card.id))
            _ = try await nap()
            #expect(problem(of: card) != nil)
        }
    }

    @Test func `a key with a PIN is looked at without it`() async throws {
        let card = try await sample.enrolled(authnType: .pin, pin: try PIN(Secret(Array("2468".utf8))))
        try await watched { _ in
            #expect(sample.agent.keyTest(of: card.id) == KeyTest(extent: .seal, at: sample.now, problem: nil))
        }
    }

    @Test func `an enrollment that is over is looked at no more`() async throws {
        let card = try await sample.enrolled()
        try await sample.replaceKey(of: card.id)
        try await watched { _ in
            _ = try await sample.agent.unenroll(card.id, locally: true, forced: true)
            #expect(sample.agent.keyTest(of: card.id) == nil)
        }
    }

    @Test(arguments: [true, false])
    func `the agent's own keys come first, and for the others a start waits a minute`(hasOwn: Bool) async throws {
        for name in ["a", "b", "c"] { _ = try await sample.enrolled(name, at: try elsewhere) }
        let own = hasOwn ? [try await sample.enrolled("d")] : []
        try await sample.agent.prepare()
        let seen = Box<[Bool]>([])
        sample.custody.beforeOpening {
            sample.clock.advance(by: 30)
            seen.change { $0.append(own.allSatisfy { sample.agent.keyTest(of: $0.id) != nil }) }
        }
        try await watched { _ in }
        #expect(seen.value == [true, true, true])
        let words = steps.value.map { if case .noKeyUsable = $0 { "none" } else { $0 == .keyUsable ? "one" : "key" } }
        #expect(words == (hasOwn ? ["key", "key", "key", "one", "one"] : ["key", "key", "none", "none"]))
    }

    @Test func `the agent is starting until all keys were looked at, and not ready`() async throws {
        _ = try await sample.enrolled()
        try await sample.agent.prepare()
        #expect(sample.agent.isStarting)
        #expect(try await sample.agent.troubles() == ["the agent is starting: not all keys have been looked at yet"])
        #expect(await !sample.agent.figures().isReady)
        try await watched { _ in }
        #expect(!sample.agent.isStarting)
        #expect(try await sample.agent.troubles() == [])
        #expect(await sample.agent.figures().isReady)
    }
}
