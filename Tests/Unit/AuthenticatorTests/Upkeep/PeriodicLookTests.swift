import AgentHost
import Foundation
import IssuerProtocol
import Keys
import ScratchDirectories
import StoreTables
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// Work comes from state: an event that is lost delays it, and no more.
@Suite(.timeLimit(.minutes(20)))
struct PeriodicLookTests {
    /// A piece of work that the look finds, by the file of the service that does it.
    enum Work: String, CaseIterable, Sendable {
        case delivery = "Sources/Core/Authenticator/Delivery/OutboxDelivery.swift"
        case registration = "Sources/Core/Authenticator/Enrollment/RegistrationDelivery.swift"
        case fetching = "Sources/Core/Authenticator/Fetching/Fetcher.swift"
        case subscription = "Sources/Core/Authenticator/Push/PushSubscriber.swift"
        case expiry = "Sources/Core/Authenticator/Upkeep/ExpiryService.swift"
        case erasure = "Sources/Core/Authenticator/Upkeep/DataRetention.swift"
        case heldMessages = "Sources/Core/Authenticator/Requests/DeferredReader.swift"
        case failedKey = "Sources/Core/Authenticator/Health/KeyWatch.swift"
        case checkpoints = "Sources/Core/Authenticator/Upkeep/Checkpointer.swift"
        case tally = "Sources/Core/Authenticator/Agent/WorkTally.swift"
        case head = "Sources/Core/Authenticator/Head/HeadWatch.swift"
    }

    /// The events of this process, of which those that begin work are lost from a moment on; what a look finds is told.
    private final class LossyHub: Sendable {
        private let isLosing = Box(false)
        let hub: EventHub

        init(_ isLost: @escaping @Sendable (AgentEvent) -> Bool) {
            hub = EventHub { [isLosing] event in isLosing.value && isLost(event) }
        }

        func beginLosing() { isLosing.set(true) }
    }

    @Test(arguments: Work.allCases)
    func `work whose event is lost is found by the look alone`(work: Work) async throws {
        switch work {
        case .delivery: try await losing(\.fillsOutbox, aDelivery)
        case .registration:
            try await losing({ if case .registrationStarted = $0 { true } else { false } }, aRegistration)
        case .fetching: try await losing(\.changesStanding, aFetch)
        case .subscription:
            try await losing(
                { if case .pushRotated = $0 { true } else { $0.kind?.changesStanding == true } }, aSubscription)
        case .expiry: try await losing(\.movesDeadline, anExpiry)
        case .erasure: try await losing({ if case .erasureWanted = $0 { true } else { false } }, anErasure)
        case .heldMessages: try await losing({ if case .messageHeld = $0 { true } else { false } }, aHeldMessage)
        case .failedKey: try await losing({ if case .keyFailed = $0 { true } else { false } }, aFailedKey)
        case .checkpoints: try await losing({ $0.kind != nil }, checkpoints)
        case .tally: try await losing({ $0.kind != nil }, aTally)
        case .head: try await losing({ $0.kind != nil }, aHead)
        }
    }

    @Test func `the architecture page has a row for each piece of work that the look finds, and for no other`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../..").standardized
        let page = try String(contentsOf: root.appending(path: "docs/explanation/architecture.md"), encoding: .utf8)
        let found = page.split(separator: "\n").compactMap { line -> String? in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 4, cells[3].hasPrefix("the periodic look") else { return nil }
            return cells[1].trimmingCharacters(in: ["`"])
        }
        #expect(found.sorted() == Work.allCases.map(\.rawValue).sorted())
    }

    // MARK: The works

    private typealias Scene = @Sendable (SampleAgent, _ beginLosing: () -> Void) async throws -> Void

    private func losing(_ isLost: @escaping @Sendable (JournalFact.Kind) -> Bool, _ scene: Scene) async throws {
        try await losing({ $0.kind.map(isLost) == true }, scene)
    }

    private func losing(_ isLost: @escaping @Sendable (AgentEvent) -> Bool, _ scene: Scene) async throws {
        let events = LossyHub(isLost)
        let sample = try SampleAgent(SamplePush.settings(), hub: events.hub, keepsHead: true)
        try await sample.agent.prepare()
        try await scene(sample, events.beginLosing)
    }

    @Sendable private func aDelivery(_ sample: SampleAgent, _ beginLosing: () -> Void) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        let ids = try await sample.requests().map(\.id)
        try await sample.looking(for: sample.agent.outboxDelivery.run) {
            try await sample.approve(ids[0])
            _ = try await sample.issuer.decided.next()
            beginLosing()
            try await sample.decide(.deny(.userDenied), ids[1])
        } until: {
            let second = try await sample.issuer.decided.next()
            #expect(second.jti == "request-2")
        }
    }

    @Sendable private func aRegistration(_ sample: SampleAgent, _ beginLosing: () -> Void) async throws {
        try await sample.issuer.enrolls()
        try await sample.looking(for: sample.agent.registrationDelivery.run) {
            _ = try await sample.agent.enroll(sample.parameters(), patience: 100)
            _ = try await sample.issuer.enrolled.next()
            beginLosing()
            let other = EnrollmentParameters(
                target: try SampleAgent.target, code: try SampleAgent.code, authnType: .presence, name: "another")
            _ = try await sample.agent.enroll(other, patience: 0)
        } until: {
            _ = try await sample.issuer.enrolled.next()
        }
    }

    @Sendable private func aFetch(_ sample: SampleAgent, _ beginLosing: () -> Void) async throws {
        let card = try await sample.enrolled("first")
        try await sample.looking(for: sample.agent.fetcher.run) {
            #expect(try await sample.issuer.fetched.next().token == card.token)
            beginLosing()
            _ = try await sample.enrolled("second")
        } until: {
            while try await sample.issuer.fetched.next().token == card.token {}
        }
    }

    @Sendable private func aSubscription(_ sample: SampleAgent, _ beginLosing: () -> Void) async throws {
        let push = try SamplePush()
        await sample.issuer.setVAPIDKey(push.vapid.point)
        let card = try await sample.enrolled()
        let first = Box<PushEndpoint?>(nil)
        try await sample.looking(for: sample.agent.pushSubscriber.run) {
            try await sample.settled(card.id)
            first.set(try await sample.subscription().endpoint)
            beginLosing()
            let discovery = try await sample.issuer.discovery(card.enrollment.target)
            let made = try sample.agent.pushSubscriber.maker.make(for: card.enrollment, discovery)
            let (kept, now) = (try #require(made).kept, sample.now)
            #expect(try await sample.agent.ports.store.write { try $0.begin(kept, at: now) })
        } until: {
            try await sample.settled(card.id)
        }
        #expect(try await sample.subscription().endpoint != first.value)
    }

    @Sendable private func anExpiry(_ sample: SampleAgent, _ beginLosing: () -> Void) async throws {
        let card = try await sample.enrolled()
        try await sample.looking(for: sample.agent.expiryService.run) {
            while try await sample.clock.naps.next() != 60 {}
            beginLosing()
            try await sample.receive(SampleRequest(exp: 12), for: card)
        } until: {
            _ = try await sample.eventually { try $0.pendingCount(enrollment: nil) == 0 ? true : nil }
        }
    }

    @Sendable private func anErasure(_ sample: SampleAgent, _ beginLosing: () -> Void) async throws {
        let card = try await sample.enrolled()
        try await sample.looking(for: sample.agent.dataRetention.run) {
            while try await sample.clock.naps.next() != 86_400 {}
            beginLosing()
            let now = sample.now
            try await sample.store.write { store in
                _ = try store.change(card.id, .ended(at: now))
                try store.wantErasure(of: card.id)
            }
        } until: {
            _ = try await sample.eventually { try $0.isErased(card.id) ? true : nil }
        }
        #expect(try await sample.journal().filter { $0.kind == .erased }.count == 1)
    }

    @Sendable private func aHeldMessage(_ sample: SampleAgent, _ beginLosing: () -> Void) async throws {
        let card = try await sample.enrolled()
        try await sample.looking(for: sample.agent.deferredReader.run) {
            beginLosing()
            // A minute ahead is taken; this one is to be read again in ten seconds.
            try await sample.receive(SampleRequest.numbered(1).early(70), for: card)
            #expect(sample.agent.deferredReader.deferred.count == 1)
        } until: {
            _ = try await sample.eventually { try $0.pendingCount(enrollment: nil) == 1 ? true : nil }
        }
    }

    @Sendable private func aFailedKey(_ sample: SampleAgent, _ beginLosing: () -> Void) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(), for: card)
        let id = try await sample.onlyRequest().id
        let tested = Channel<Void>()
        try await sample.looking(for: { try await sample.agent.keyWatch.run { _ in tested.send(()) } }) {
            while try await sample.clock.naps.next() < KeyWatch.pause {}
            beginLosing()
            let key = try await sample.replaceKey(of: card.id)
            await #expect(throws: CommandError.self) { try await sample.approve(id) }
            #expect(sample.agent.keyTest(of: card.id)?.problem != nil)
            try await sample.replaceKey(of: card.id, by: key)
        } until: {
            while sample.agent.keyTest(of: card.id)?.problem != nil { try await tested.next() }
        }
    }

    @Sendable private func checkpoints(_ sample: SampleAgent, _ beginLosing: () -> Void) async throws {
        try await sample.looking(for: sample.agent.checkpointer.run) {
            while try await sample.clock.naps.next() != 86_400 {}
            beginLosing()
            try await sample.write(entries: 600)
        } until: {
            while try await sample.store.real.read({ try $0.newestCheckpoint() }) == nil { await Task.yield() }
        }
    }

    @Sendable private func aTally(_ sample: SampleAgent, _ beginLosing: () -> Void) async throws {
        let service: @Sendable () async throws -> Void = {
            try await sample.agent.workTally.count(in: sample.ports.store, sample.agent.hub)
        }
        try await sample.looking(for: service) {
            beginLosing()
            try await sample.write(entries: 600)
        } until: {
            while sample.agent.workTally.position < 600 { await Task.yield() }
        }
    }

    @Sendable private func aHead(_ sample: SampleAgent, _ beginLosing: () -> Void) async throws {
        let watch = sample.agent.headWatch
        let untilNoted: @Sendable () async throws -> Void = {
            while true {
                let head = try #require(watch.store.headMark)
                if case .note(.head(head, _))? = try await sample.headFile?.read() { return }
                await Task.yield()
            }
        }
        try await sample.looking(for: watch.run) {
            try await sample.write(entries: 1)
            while try await sample.clock.naps.next() != HeadWatch.pause {}
            sample.clock.advance(by: HeadWatch.pause)
            try await untilNoted()
            beginLosing()
            try await sample.write(entries: 1)
        } until: {
            try await untilNoted()
        }
    }

    // MARK: The look itself

    @Test func `of many enrollments each look sees the newest, and in turn all others`() async throws {
        let sample = try SampleAgent()
        var look = sample.agent.periodicLook
        (look.newest, look.page) = (2, 3)
        let cards = try await (1...9).asyncMap { try await sample.enrolled("\($0)").id }
        let seen = Box<[[EnrollmentID]]>([])
        let notifier = sample.agent.hub.notifier { event in
            if case .found(.standings(let found)) = event { seen.change { $0.append(found.map(\.id)) } }
            return false
        }
        try await sample.running([look.run]) {
            try await sample.looks(4)
            while try await sample.clock.naps.next() != AgentSettings.lookPause {}
        }
        let newestFirst = Array(cards.reversed())
        let newest = 0..<2
        let expected = [newest, 2..<5, newest, 5..<8, newest, 8..<9, newest, 2..<5].map { Array(newestFirst[$0]) }
        withExtendedLifetime(notifier) { #expect(seen.value == expected) }
    }

    @Test func `after a gap one look sees everything`() async throws {
        let sample = try SampleAgent()
        var look = sample.agent.periodicLook
        (look.newest, look.page, look.outboxPage) = (1, 1, 1)
        let cards = try await (1...4).asyncMap { try await sample.enrolled("\($0)") }
        for (number, card) in cards.enumerated() { try await sample.receive(.numbered(number), for: card) }
        for request in try await sample.requests() { try await sample.decide(.deny(.userDenied), request.id) }
        let (standing, waiting) = (Box<Set<EnrollmentID>>([]), Box<Set<EnrollmentID>>([]))
        let notifier = sample.agent.hub.notifier { event in
            if case .found(.standings(let found)) = event { standing.change { $0.formUnion(found.map(\.id)) } }
            if case .found(.outbox(let ids, _)) = event { waiting.change { $0.formUnion(ids) } }
            return false
        }
        try await sample.running([look.run]) {
            while try await sample.clock.naps.next() != AgentSettings.lookPause {}
            sample.agent.hub.publish(.gap)
            sample.clock.advance(by: AgentSettings.lookPause)
            while try await sample.clock.naps.next() != AgentSettings.lookPause {}
        }
        withExtendedLifetime(notifier) {
            #expect(standing.value == Set(cards.map(\.id)) && waiting.value == Set(cards.map(\.id)))
        }
    }

    @Test func `an enrollment that its issuer knows again is fetched, whoever found out`() async throws {
        let sample = try SampleAgent()
        let card = try await sample.enrolled()
        try await sample.change(card.id, .suspended)
        await sample.issuer.onFetch { (fetch) throws(IssuerError) in
            guard fetch.wait > 0 else { throw .problem(.invalidToken) }
            throw await .waitingWasCancelled
        }
        try await sample.looking(for: sample.agent.fetcher.run) {
            #expect(try await sample.issuer.fetched.next().wait == 0)
            try await sample.change(card.id, .resumed)
        } until: {
            let fetch = try await sample.issuer.fetched.next()
            #expect(fetch.wait > 0)
        }
    }
}

extension ClosedRange<Int> {
    fileprivate func asyncMap<Value>(_ body: (Int) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for number in self { values.append(try await body(number)) }
        return values
    }
}
