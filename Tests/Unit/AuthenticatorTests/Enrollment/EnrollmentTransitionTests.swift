import IssuerProtocol
import Keys
import Testing

@testable import Records

/// Each change of an enrollment is made to a row that is as it expects, and to no other.
struct EnrollmentTransitionTests {
    private static let states = ["enrolling", "active", "suspended", "ended"]
    private let membership: Membership

    init() throws {
        guard let id = TokenID("authenticator") else { throw SampleError("no id") }
        membership = Membership(authenticatorId: id, sealedToken: [1], enrolledAt: 1)
    }

    /// At signCount 5, with one try of its PIN that was wrong.
    private func enrollment(_ state: EnrollmentState) throws -> Enrollment {
        guard let id = EnrollmentID(String(repeating: "a", count: 20)) else { throw SampleError("no id") }
        return Enrollment(
            id: id, target: try SampleAgent.target, name: "card", authnType: .pin, algorithm: -7,
            rpId: "issuer.example", credentialId: [1], userHandle: [1], startedAt: 1,
            sealedKey: [1], signCount: 5, state: state, ownPINTries: PINTries(failures: 1, blockedUntil: nil))
    }

    private func state(_ name: String) -> EnrollmentState {
        switch name {
        case "enrolling": .enrolling(body: [1])
        case "active": .active(membership)
        case "suspended": .suspended(membership)
        default: .ended(authenticatorId: membership.authenticatorId)
        }
    }

    private func fitting(_ transition: EnrollmentTransition) throws -> [String] {
        try Self.states.filter { transition.applied(to: try enrollment(state($0))) != nil }
    }

    @Test func `each is made in its states alone`() throws {
        let living = Array(Self.states.prefix(3))
        #expect(try fitting(.registered(membership)) == ["enrolling"])
        #expect(try fitting(.givenUp(reason: "why", at: 2)) == ["enrolling"])
        #expect(try fitting(.suspended) == ["active"])
        #expect(try fitting(.resumed) == ["suspended"])
        #expect(try fitting(.ended(at: 2)) == living)
        #expect(try fitting(.signCountTaken(6)) == ["active"])
        #expect(try fitting(.signCountRaised(SignCountRaise(from: 5, to: 9, at: 2))) == living)
        #expect(try fitting(.pinTries(from: PINTries(failures: 1, blockedUntil: nil), to: .fresh)) == living)
        #expect(try fitting(.pinChanged(isGuessable: true, key: Resealing(from: [1], to: [2]))) == living)
        #expect(try fitting(.tokenResealed(from: [1], to: [2])) == ["active", "suspended"])
    }

    @Test func `a number that is not as expected changes nothing`() throws {
        #expect(try fitting(.signCountTaken(5)).isEmpty)
        #expect(try fitting(.signCountRaised(SignCountRaise(from: 4, to: 9, at: 2))).isEmpty)
        #expect(try fitting(.signCountRaised(SignCountRaise(from: 5, to: 5, at: 2))).isEmpty)
        #expect(try fitting(.pinTries(from: .fresh, to: PINTries(failures: 2, blockedUntil: nil))).isEmpty)
        #expect(try fitting(.tokenResealed(from: [2], to: [3])).isEmpty)
    }

    @Test func `a sealed key is changed from what it is, and goes when the enrollment ends`() throws {
        let card = try enrollment(state("active"))
        let (right, wrong) = (Resealing(from: [1], to: [2]), Resealing(from: [3], to: [2]))
        #expect(EnrollmentTransition.keyResealed(right).applied(to: card)?.sealedKey == [2])
        #expect(EnrollmentTransition.pinChanged(isGuessable: false, key: right).applied(to: card)?.sealedKey == [2])
        for change in [EnrollmentTransition.keyResealed(wrong), .pinChanged(isGuessable: false, key: wrong)] {
            #expect(change.applied(to: card) == nil)
        }
        for end in [EnrollmentTransition.ended(at: 2), .givenUp(reason: "why", at: 2)] {
            let card = try enrollment(state("enrolling"))
            let ended = try #require(end.applied(to: card))
            #expect(ended.isOver && ended.sealedKey == nil)
        }
    }

    @Test func `of the signCounts that the issuer refused the greatest stays`() throws {
        let card = try enrollment(state("active"))
        let first = try #require(EnrollmentTransition.signCountRefused(7).applied(to: card))
        #expect(EnrollmentTransition.signCountRefused(6).applied(to: first)?.refusedSignCount == 7)
        #expect(EnrollmentTransition.signCountRefused(8).applied(to: first)?.refusedSignCount == 8)
    }

    @Test(arguments: ["active", "suspended"])
    func `a token that is sealed anew leaves the enrollment in its state`(name: String) throws {
        let changed = EnrollmentTransition.tokenResealed(from: [1], to: [2]).applied(to: try enrollment(state(name)))
        switch (name, changed?.state) {
        case ("active", .active(let membership)?), ("suspended", .suspended(let membership)?):
            #expect(membership.sealedToken == [2])
        default: Issue.record("it is in another state")
        }
    }

    @Test func `a signCount is taken with the PIN that was right`() throws {
        let changed = EnrollmentTransition.signCountTaken(7).applied(to: try enrollment(state("active")))
        #expect(changed?.signCount == 7 && changed?.ownPINTries == .fresh)
    }
}
