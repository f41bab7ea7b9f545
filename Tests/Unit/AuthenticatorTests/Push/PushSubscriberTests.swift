import Custody
import IssuerProtocol
import Keys
import ScratchDirectories
import StoreTables
import Testing

@testable import Authenticator
@testable import Records

/// Each issuer has the push subscription that the agent wants it to have.
@Suite(.timeLimit(.minutes(20)))
struct PushSubscriberTests {
    private let push: SamplePush

    init() throws { push = try SamplePush() }

    @Test func `an enrollment without one gets one, sealed in the store`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, sent) = try await sample.subscribed(push)
        #expect(sent.endpoint.text.hasPrefix(SamplePush.url + "/push/"))
        let kept = try #require(try await sample.store.real.read { try $0.subscriptions(of: card.id) }.first)
        #expect(kept.vapidKey == push.vapid.point && kept.endpoint == sent.endpoint)
        let opened = try sample.ports.sealing.openPushKey(kept.sealedKey, for: card.id)
        #expect(opened.recipient == sent.recipient)
        let secret = unsafe try opened.secret().withBytes { unsafe Array($0) }
        #expect(kept.sealedKey.firstRange(of: secret) == nil)
    }

    @Test func `a registration carries the subscription, and it is not sent again`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        await sample.issuer.setVAPIDKey(push.vapid.point)
        try await sample.issuer.enrolls()
        try await sample.running([sample.agent.registrationDelivery.run]) {
            let enrollment = try await sample.agent.enroll(sample.parameters(), patience: 10)
            let body = try #require(await sample.issuer.registrations.first)
            let sent = try #require(try EnrollmentRequest(bytes: body).pushSubscription)
            let kept = try await sample.store.real.read { try $0.subscriptions(of: enrollment.id) }
            #expect(kept.map(\.endpoint) == [sent.endpoint] && kept.map(\.isRegistered) == [true])
        }
        try await sample.running([sample.agent.pushSubscriber.run]) { try await sample.clock.sleepers() }
        #expect(await sample.issuer.subscriptions.isEmpty)
    }

    @Test func `a registration has none if the issuer does not push, or is not to`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        try await sample.issuer.enrolls()
        _ = try await sample.agent.enroll(sample.parameters(), patience: 0)
        await sample.issuer.setVAPIDKey(push.vapid.point)
        let unwanted = EnrollmentParameters(
            target: try SampleAgent.target, code: try SampleAgent.code, authnType: .presence, name: "card",
            takesPush: false)
        _ = try await sample.restarted().agent.enroll(unwanted, patience: 0)
        let enrollments = try await sample.agent.enrollments()
        #expect(enrollments.map(\.takesPush) == [true, false])
        for case .enrolling(let body) in enrollments.map(\.state) {
            #expect(try EnrollmentRequest(bytes: body).pushSubscription == nil)
        }
        for enrollment in enrollments {
            #expect(try await sample.store.real.read { try $0.subscriptions(of: enrollment.id) }.isEmpty)
        }
    }

    @Test func `what is registered is not sent again`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, _) = try await sample.subscribed(push)
        let later = try sample.restarted()
        try await later.running([later.agent.pushSubscriber.run]) { try await later.clock.sleepers() }
        try await sample.settled(card.id)
        #expect(await sample.issuer.subscriptions.count == 1)
    }

    @Test func `another address, and another key of the issuer, get another subscription`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, first) = try await sample.subscribed(push)
        let moved = try sample.restarted(settings: SamplePush.settings("https://elsewhere.example"))
        try await moved.running([moved.agent.pushSubscriber.run]) { try await moved.clock.sleepers() }
        let second = try await sample.subscription()
        #expect(second.endpoint.origin == "https://elsewhere.example" && second.recipient != first.recipient)
        await sample.issuer.setVAPIDKey(try SamplePush().vapid.point)
        let changed = try moved.restarted()
        try await changed.running([changed.agent.pushSubscriber.run]) { try await changed.clock.sleepers() }
        #expect(await sample.issuer.subscriptions.count == 3)
        try await sample.settled(card.id)
    }

    @Test func `it ends if the agent is not pushed to any more`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, _) = try await sample.subscribed(push)
        let off = try sample.restarted(settings: AgentSettings(version: "1.2.3"))
        try await off.running([off.agent.pushSubscriber.run]) { try await off.clock.sleepers() }
        #expect(await sample.issuer.unsubscriptions == 1)
        #expect(try await sample.store.real.read { try $0.subscriptions(of: card.id) }.isEmpty)
    }

    @Test func `the same one is sent until the issuer has answered, also after a restart`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        await sample.issuer.setVAPIDKey(push.vapid.point)
        let card = try await sample.enrolled()
        await sample.issuer.onSubscription { (_) throws(IssuerError) in throw .down }
        try await sample.running([sample.agent.pushSubscriber.run]) { try await sample.clock.wakeNext() }
        let sent = try await sample.subscription()
        await sample.issuer.onSubscription { (_) throws(IssuerError) in }
        let later = try sample.restarted()
        try await later.running([later.agent.pushSubscriber.run]) { try await later.settled(card.id) }
        #expect(try await sample.subscription() == sent)
    }

    /// Has the issuer tell of each subscription that comes in, and answer it when the test says so.
    private func heldSubscriptions(
        of sample: SampleAgent
    ) async -> (asked: Channel<PushSubscription>, answers: Channel<Void>) {
        let (asked, answers) = (Channel<PushSubscription>(), Channel<Void>())
        await sample.issuer.onSubscription { (subscription) throws(IssuerError) in
            asked.send(subscription)
            try await answers.answer()
        }
        return (asked, answers)
    }

    @Test func `a rotation takes pushes to both until the issuer has answered`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, old) = try await sample.subscribed(push)
        let (asked, answers) = await heldSubscriptions(of: sample)
        try await sample.running([sample.agent.pushSubscriber.run]) {
            async let open = sample.agent.rotatePush(card.id)
            let new = try await asked.next()
            for subscription in [old, new] {
                _ = try await sample.push([], to: subscription, by: push)
            }
            answers.send(())
            #expect(try await open.isEmpty)
            await #expect(throws: PushAnswer.unknownEndpoint) { _ = try await sample.push([], to: old, by: push) }
            _ = try await sample.push([], to: new, by: push)
        }
    }

    @Test func `one that was made while an older one was sent is sent as well`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, _) = try await sample.subscribed(push)
        let (asked, answers) = await heldSubscriptions(of: sample)
        try await sample.running([sample.agent.pushSubscriber.run]) {
            async let first = sample.agent.rotatePush(card.id)
            let older = try await asked.next()
            async let second = sample.agent.rotatePush(card.id)
            try await sample.eventually { store in
                try store.subscriptions(of: card.id).last?.endpoint == older.endpoint ? nil : true
            }
            answers.send(())
            let newer = try await asked.next()
            #expect(newer.endpoint != older.endpoint)
            #expect(try await sample.store.real.read { try $0.subscriptions(of: card.id) }.last?.isRegistered == false)
            answers.send(())
            _ = try await (first, second)
            #expect(
                try await sample.store.real.read { try $0.subscriptions(of: card.id) }.map(\.endpoint) == [
                    newer.endpoint
                ])
        }
    }

    @Test func `a rotation of all changes nothing if one issuer cannot be reached`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, _) = try await sample.subscribed(push)
        let elsewhere = IssuerTarget(issuer: try IssuerURL("https://other.example"), rootsPEM: nil)
        _ = try await sample.enrolled("other", target: elsewhere)
        await sample.issuer.onDiscovery { () throws(IssuerError) in
            throw .transient(reason: "no connection", retryAfter: nil)
        }
        let failure = await #expect(throws: CommandError.self) { _ = try await sample.agent.rotatePush(nil) }
        #expect(failure?.code == .issuerUnreachable)
        #expect(try await sample.store.real.read { try $0.subscriptions(of: card.id) }.count == 1)
    }

    @Test func `a rotation is noted only once it is known that there is something to rotate`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        _ = try await sample.enrolled()
        let failure = await #expect(throws: CommandError.self) {
            _ = try await sample.agent.rotatePush(nil, noting: { _ in Issue.record("there is nothing to rotate") })
        }
        #expect(failure?.code == .invalidArgument)
    }

    @Test func `an unenrollment leaves no subscription`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, sent) = try await sample.subscribed(push)
        _ = try await sample.agent.unenroll(card.id, locally: false, forced: false)
        #expect(try await sample.store.real.read { try $0.subscriptions(of: card.id) }.isEmpty)
        await #expect(throws: PushAnswer.unknownEndpoint) { _ = try await sample.push([], to: sent, by: push) }
    }

    @Test func `a new secret opens the push key, and the old one does not`() async throws {
        let sample = try SampleAgent(SamplePush.settings())
        let (card, sent) = try await sample.subscribed(push)
        let fresh = try AgentSecret.generate()
        let changed = try sample.restarted(secret: fresh, previous: sample.secret)
        try await changed.rotate(by: sample.rewrapper(to: fresh))
        let kept = try #require(try await sample.store.real.read { try $0.subscriptions(of: card.id) }.first)
        #expect(try changed.ports.sealing.openPushKey(kept.sealedKey, for: card.id).recipient == sent.recipient)
        #expect(throws: (any Error).self) { try sample.ports.sealing.openPushKey(kept.sealedKey, for: card.id) }
    }
}
