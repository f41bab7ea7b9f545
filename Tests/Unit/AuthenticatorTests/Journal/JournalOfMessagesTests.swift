import IssuerProtocol
import Testing
import TextAndTime

@testable import Authenticator
@testable import Journal
@testable import Records

/// What the journal says about messages that are not simply presented, and about enrollments.
struct JournalOfMessagesTests {
    let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    private func recorded(_ request: SampleRequest, for card: SampleEnrollment) async throws -> [JournalFact.Kind] {
        try await sample.recorded { try await sample.receive(request, for: card) }
    }

    @Test func `what becomes of a message is recorded once, whatever it is`() async throws {
        let card = try await sample.enrolled()
        #expect(try await recorded(SampleRequest(), for: card).suffix(1) == [.presented])
        #expect(try await recorded(SampleRequest(jti: "newer", iat: 1), for: card) == [.superseded])
        #expect(try await recorded(SampleRequest(jti: "older", iat: -1), for: card) == [.received])
        #expect(
            try await recorded(SampleRequest(jti: "conflict", purchaseAmount: "2"), for: card)
                == [.refused, .conflict])
        #expect(try await recorded(SampleRequest(jti: "wrong", rpId: "other.example"), for: card) == [.refused])
        #expect(try await recorded(SampleRequest(jti: "late", exp: 0), for: card) == [.expired])
        let cancelled = try await sample.recorded {
            try await sample.receive(SampleCancellation(cancels: "newer"), for: card)
        }
        #expect(cancelled == [.received, .cancelled])
        #expect(try await sample.newest(.received).text("cancels") == "newer")
        #expect(try await sample.newest(.refused).text("refusal") != nil)
    }

    @Test func `what was cancelled before it came is recorded as cancelled, and never as presented`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleCancellation(), for: card)
        #expect(try await recorded(SampleRequest(), for: card) == [.cancelled])
    }

    @Test func `the same answer a hundred times adds nothing to the journal`() async throws {
        let card = try await sample.enrolled()
        let known = try (1...50).map { try sample.message(.numbered($0), for: card) }
        let other = try sample.message(SampleRequest(jti: "request-1", purchaseAmount: "7"), for: card)
        let again = try sample.message(
            SampleRequest(jti: "again", acsTransId: SampleRequest.numbered(2).acsTransId), for: card)
        try await sample.receive(messages: known, for: card)
        try await sample.decide(.deny(.userDenied), try await sample.requests()[1].id)
        let kinds = try await sample.recorded {
            for _ in 1...100 { try await sample.receive(messages: known + [other, again], for: card) }
        }
        #expect(kinds == [.conflict, .duplicate])
        #expect(try await sample.newest(.conflict).text("jti") == "request-1")
        #expect(try await sample.newest(.duplicate).text("jti") == "again")
    }

    @Test func `the clock closing a request is recorded, by whoever notices it`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        sample.clock.advance(by: 600)
        let newer = SampleRequest(jti: "newer", iat: 600, exp: 900, acsTransId: SampleRequest.numbered(1).acsTransId)
        let events = try await sample.events {
            let kinds = try await recorded(newer, for: card)
            #expect(kinds == [.expired, .presented])
        }
        // Whoever waits for the request learns of it too.
        #expect(events.contains { $0.kind == .expired })
        let expired = try await sample.recorded {
            try await sample.running([sample.agent.expiryService.run]) { try await sample.clock.sleepers() }
        }
        #expect(expired == [.expired])
        #expect(try await sample.newest(.expired).text("jti") == "request-2")
    }

    @Test func `the life of an enrollment is recorded`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), .numbered(2), for: card)
        try await sample.decide(.deny(.userDenied), try await sample.requests()[0].id)
        let kinds = try await sample.recorded {
            let fetcher = sample.agent.fetcher
            try await fetcher.setKnown(false, try await sample.enrollment(card.id))
            try await fetcher.setKnown(false, try await sample.enrollment(card.id))
            try await fetcher.setKnown(true, try await sample.enrollment(card.id))
            _ = try await sample.agent.unenroll(card.id, locally: true, forced: true)
            _ = try await sample.agent.unenroll(card.id, locally: true, forced: true)
        }
        #expect(kinds == [.suspended, .resumed, .unenrolled, .deliveryFailed, .cancelled])
        #expect(try await sample.newest(.deliveryFailed).text("failure") == "unenrolled")
    }

    @Test func `an enrollment is recorded when its issuer has taken it, with its ids and no more`() async throws {
        try await sample.issuer.enrolls()
        let kinds = try await sample.recorded {
            try await sample.running([sample.agent.registrationDelivery.run]) {
                _ = try await sample.agent.enroll(sample.parameters(), patience: 10)
            }
        }
        #expect(kinds == [.auditKeyMade, .enrolled])
        let enrolled = try await sample.newest(.enrolled)
        let card = try #require(try await sample.agent.enrollments().first)
        #expect(enrolled.text("authenticator") == card.membership?.authenticatorId.text)
        #expect(enrolled.text("credential") == Base64URL.encode(card.credentialId))
        #expect(enrolled.text("authnType") == card.authnType.rawValue)
    }

    @Test func `an enrollment that its issuer refuses is recorded as given up`() async throws {
        try await sample.issuer.enrolls()
        await sample.issuer.onEnrollment { (_) throws(IssuerError) in throw .problem(.invalidRegistration) }
        let kinds = try await sample.recorded {
            try await sample.running([sample.agent.registrationDelivery.run]) {
                let code = try await failureCode {
                    _ = try await sample.agent.enroll(sample.parameters(), patience: 10)
                }
                #expect(code == .issuerRefused)
            }
        }
        #expect(kinds == [.auditKeyMade, .enrollmentGivenUp])
    }

    @Test func `an old copy of the state going above the issuer's signCount is recorded`() async throws {
        let card = try await sample.enrolled()
        await sample.issuer.onStatus { (_) throws(IssuerError) in 41 }
        try await sample.receive(SampleRequest(), for: card)
        try await sample.approve(try await sample.onlyRequest().id)
        let raised = try await sample.newest(.signCountRaised)
        #expect(raised.number("from") == 0)
        #expect(raised.number("to") == 41)
        #expect(try await sample.newest(.decided).number("signCount") == 42)
    }
}
