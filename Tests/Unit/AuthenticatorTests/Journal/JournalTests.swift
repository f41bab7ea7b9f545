import IssuerProtocol
import StoreTables
import StrictJSON
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// What the journal says about the life of a request.
struct JournalTests {
    let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    @Test func `an approval is recorded step by step, each in one entry`() async throws {
        let card = try await sample.enrolled()
        let kinds = try await sample.recorded {
            try await sample.receive(SampleRequest(), for: card)
            try await sample.approve(try await sample.onlyRequest().id)
            try await sample.deliverAll()
        }
        #expect(kinds == [.presented, .decided, .answered])
        let id = try await sample.onlyRequest().id.text
        let entries = try await sample.journal().dropFirst()
        #expect(entries.allSatisfy { $0.text("request") == id && $0.text("jti") == "request-1" })
        #expect(entries.allSatisfy { $0.text("enrollment") == card.id.text && $0.at == "2023-11-14T22:13:20Z" })
        #expect(try await sample.newest(.decided).number("signCount") == 1)
        #expect(try await sample.newest(.answered).text("transStatus") == "Y")
        #expect(entries.map { $0.text("payload") != nil } == [true, false, false])
        #expect(entries.map { $0.text("body") != nil } == [false, false, true])
        #expect(try await sample.newest(.presented).text("acsTransId") == SampleRequest().acsTransId)
    }

    @Test func `receiving stays one database transaction, and so does deciding`() async throws {
        let card = try await sample.enrolled()
        func writes(_ body: () async throws -> Void) async throws -> Int {
            let lengths = Box<[Int]>([])
            sample.store.beforeWriting { [sample] in
                let length = try await sample.journal().count
                lengths.change { $0.append(length) }
            }
            try await body()
            sample.store.beforeWriting(nil)
            let all = lengths.value + [try await sample.journal().count]
            return zip(all, all.dropFirst()).count { $0 < $1 }
        }
        #expect(try await writes { try await sample.receive(.numbered(1), .numbered(2), for: card) } == 1)
        let ids = try await sample.requests().map(\.id)
        #expect(try await writes { try await sample.approve(ids[0]) } == 1)
        #expect(try await writes { try await sample.decide(.deny(.userDenied), ids[1]) } == 1)
        #expect(try await sample.journal().count == 5)
    }

    @Test func `every entry is told once it is durable, in its order, with what it is about`() async throws {
        let card = try await sample.enrolled()
        let events = try await sample.events {
            try await sample.receive(.numbered(1), .numbered(2), for: card)
            let ids = try await sample.requests().map(\.id)
            try await sample.approve(ids[0])
            try await sample.decide(.deny(.userDenied), ids[1])
            // The answer to it is no request's own.
            let again = SampleRequest(jti: "again", iat: 1, acsTransId: SampleRequest.numbered(1).acsTransId)
            try await sample.receive(again, for: card)
            try await sample.receive(.numbered(3), for: card)
            try await sample.deliverAll()
            _ = try await sample.agent.unenroll(card.id, locally: true, forced: false, erasing: false)
        }
        let told = events.filter { $0.kind != nil }.map { "\($0)" }
        let written = try await sample.journal().dropFirst().map { "\(AgentEvent($0))" }
        #expect(told == written)
        #expect(Set(events.compactMap(\.kind)).isSuperset(of: [.duplicate, .answered, .unenrolled, .cancelled]))
        #expect(events.contains { $0.tells(.answered, of: card.id) && $0.request == nil })
    }

    @Test func `a denial is recorded with its reason, and nothing is signed`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        let kinds = try await sample.recorded { try await sample.decide(.deny(.suspectedFraud), id) }
        #expect(kinds == [.decided])
        let decided = try await sample.newest(.decided)
        #expect(decided.text("decision") == "deny" && decided.text("reason") == "suspectedFraud")
    }

    @Test func `who decided is recorded, and what they say they had seen`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), .numbered(3), for: card)
        let requests = try await sample.requests()
        let text = try #require(try await sample.agent.text(of: requests[0])).digest
        let seen = [text, "another", nil]
        for (request, digest) in zip(requests, seen) {
            try await sample.decide(.deny(.userDenied), request.id, shown: digest)
        }
        let decided = try await sample.journal().filter { $0.kind == .decided }
        #expect(decided.map { $0.text("shown") } == ["text", "otherText", "nothing"])
        #expect(decided[0].text("text") == text)
        #expect(decided.allSatisfy { $0.text("by") == "command" && $0.text("process") == "oobctl" })
        #expect(decided.map { $0.number("uid") } == [1_000, 1_000, 1_000])
        #expect(decided[0].number("pid") == 4_242)
    }

    @Test func `the text that is shown is recorded by its digest, anew when it changes`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let first = try await sample.onlyRequest()
        #expect(
            try await sample.newest(.presented).text("text") == sample.agent.text(of: first)?.digest)

        try await sample.receive(SampleRequest(jti: "request-2", iat: 1, exp: 900), for: card)
        let newer = try await sample.onlyRequest()
        let superseded = try await sample.newest(.superseded)
        #expect(try await superseded.text("text") == sample.agent.text(of: newer)?.digest)
        #expect(try await superseded.text("text") != sample.newest(.presented).text("text"))

        try await sample.receive(SampleRequest(jti: "request-3", purchaseAmount: "200"), for: card)
        let marked = try #require(try await sample.requests().first)
        let conflict = try await sample.newest(.conflict)
        #expect(try await conflict.text("text") == sample.agent.text(of: marked)?.digest)
        #expect(conflict.text("text") != superseded.text("text"))
    }

    @Test func `no name, amount or address of anyone is in the journal`() async throws {
        let card = try await sample.enrolled("my-private-card")
        try await sample.receive(SampleRequest(), for: card)
        try await sample.receive(SampleRequest(jti: "request-2", merchantName: "Other"), for: card)
        try await sample.approve(try #require(try await sample.requests().first).id)
        try await sample.deliverAll()
        // Without digests and keys: the letters of a word as short as USD come up in them by chance.
        let all = try await sample.journal().map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
            .replacing(/[A-Za-z0-9_-]{43,}/, with: "…")
        #expect(all.contains(#""shown":"nothing""#) && all.contains(#""body":"…""#))
        for personal in ["CoffeeHouse2", "Other", "USD", "\"100\"", "merchant.example", "issuer.example", "private"] {
            #expect(!all.contains(personal))
        }
    }

    @Test func `a decision whose commit fails leaves no entry, and nobody is told of one`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        let before = try await sample.journal().count
        sample.store.breakWrites()
        let events = try await sample.events {
            await #expect(throws: StoreError.self) { try await sample.approve(id) }
        }
        #expect(try await sample.journal().count == before)
        #expect(!events.contains { $0.kind != nil })
        sample.store.breakWrites(false)
        #expect(try await sample.recorded { try await sample.approve(id) } == [.decided])
        #expect(try await sample.agent.journal.verify().fault == nil)
    }

    @Test func `a first write that fails leaves neither a key nor an entry, and the next one makes both`() async throws
    {
        sample.store.breakWrites()
        await #expect(throws: StoreError.self) { try await sample.agent.prepare() }
        #expect(try await sample.store.real.read { try $0.sealedAuditKey() } == nil)
        sample.store.breakWrites(false)
        try await sample.agent.prepare()
        #expect(try await sample.journal().map(\.kind) == [.auditKeyMade, .started])
        #expect(try await sample.agent.journal.verify().fault == nil)
    }

    /// What an approval adds that is sent three times until it is answered.
    private func recordedByThirdTry() async throws -> [JournalFact.Kind] {
        try await sample.approve(try await sample.onlyRequest().id)
        return try await sample.recorded {
            try await sample.running([sample.agent.outboxDelivery.run]) {
                for _ in 1...2 { try await sample.clock.wakeNext() }
                try await sample.eventually { try $0.outboxCount(enrollment: nil) == 0 ? true : nil }
            }
        }
    }

    @Test func `a decision that has to be sent again is recorded as sent once, and at its end how often`() async throws
    {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let tries = Box(0)
        await sample.issuer.onDecision { (_) throws(IssuerError) in
            if tries.next() < 3 { throw .down }
            return .authenticated
        }
        #expect(try await recordedByThirdTry() == [.sent, .answered])
        #expect(try await sample.newest(.answered).number("times") == 3)
        #expect(try await sample.newest(.sent).text("body") != nil)
        #expect(try await sample.newest(.answered).text("body") == nil)
    }

    @Test func `a decision that fails in several ways before it arrives is recorded as sent once all the same`()
        async throws
    {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let tries = Box(0)
        await sample.issuer.onDecision { (_) throws(IssuerError) in
            switch tries.next() {
            case 1: throw .transient(reason: "it is closed", retryAfter: nil)
            case 2: throw .transient(reason: "it is full", retryAfter: nil)
            default: return .authenticated
            }
        }
        #expect(try await recordedByThirdTry() == [.sent, .answered])
    }

    @Test func `a decision that could not be delivered is recorded with the reason`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        try await sample.decide(.deny(.userDenied), try await sample.onlyRequest().id)
        sample.clock.advance(by: 600)
        #expect(try await sample.recorded { try await sample.deliverAll() } == [.deliveryFailed])
        let failed = try await sample.newest(.deliveryFailed)
        #expect(failed.text("failure") == "expired")
        #expect(failed.number("times") == 0)
    }

    @Test func `the start and the end of the agent are recorded, and a restart goes on with the chain`() async throws {
        try await sample.agent.prepare()
        try await sample.agent.conclude()
        let again = try sample.restarted()
        try await again.agent.prepare()
        let entries = try await again.journal()
        #expect(entries.map(\.kind) == [.auditKeyMade, .started, .stopped, .started])
        #expect(entries[1].text("version") == "1.2.3")
        #expect(try await again.agent.journal.verify().fault == nil)
    }

    @Test func `every entry is written in one and the same way`() async throws {
        try await sample.agent.prepare()
        let entry = try #require(try await sample.journal().last)
        let bytes = String(decoding: entry.bytes, as: UTF8.self)
        let previous = try await sample.journal()[0].point.hexadecimal
        #expect(
            bytes == #"{"at":"2023-11-14T22:13:20Z","entry":"started","previous":"\#(previous)","seq":2,"#
                + #""version":"1.2.3"}"#)
    }
}
