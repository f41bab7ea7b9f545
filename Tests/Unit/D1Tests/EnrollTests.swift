import D1
import Foundation
import StrictJSON
import Testing

@MainActor
@Suite(.timeLimit(.minutes(20)))
struct EnrollTests {
    @Test func `platform is a PIN, and nothing said is platform`() async throws {
        for type in [AuthnType.platform, nil] {
            try await TestApp.run { app in
                try await app.configured { task in
                    let payer = Payer.approving
                    let authn = try #require(task.d1Authn(payer))
                    #expect(authn.enrolledAuthnType() == nil)
                    try await authn.enrollAuthnCredentials(type)
                    #expect(authn.enrolledAuthnType() == .platform)
                    #expect(app.entered.prompts == ["Confirm the payment"])
                }
            }
        }
    }

    @Test func `biometric is answered with 10001, as on a device without`() async throws {
        try await TestApp.run { app in
            try await app.configured { task in
                let payer = Payer.approving
                let authn = try #require(task.d1Authn(payer))
                let ended = await error { () throws(D1Error) in try await authn.enrollAuthnCredentials(.biometric) }
                #expect(ended?.code.rawValue == 10001)
                #expect(authn.enrolledAuthnType() == nil)
            }
        }
    }

    @Test func `if nobody can be asked for a PIN, 70006 says so`() async throws {
        try await TestApp.run { app in
            try await app.configured({ $0.pin = nil }) { task in
                let payer = Payer.approving
                let authn = try #require(task.d1Authn(payer))
                let ended = await error { () throws(D1Error) in try await authn.enrollAuthnCredentials(.platform) }
                #expect(ended?.code.rawValue == 70006)
            }
        }
    }

    @Test(arguments: ["NO-SUCH-CODE", "", String(repeating: "x", count: 257)])
    func `a bad code is answered with 70005`(code: String) async throws {
        try await TestApp.run { app in
            try await app.configured({ $0.enrollmentCode = { code } }) { task in
                let payer = Payer.approving
                let authn = try #require(task.d1Authn(payer))
                let ended = await error { () throws(D1Error) in try await authn.enrollAuthnCredentials(.platform) }
                #expect(ended?.code.rawValue == 70005)
                #expect(authn.enrolledAuthnType() == nil)
            }
        }
    }

    @Test(arguments: ["123", "12\u{7}4", String(repeating: "1", count: 65)])
    func `a PIN that is none is an invalid argument, and uses no code`(pin: String) async throws {
        try await TestApp.run { app in
            let code = try await app.issuer.enrollmentCode()
            try await app.configured({ $0.enrollmentCode = { code } }) { task in
                let payer = Payer.approving
                let authn = try #require(task.d1Authn(payer))
                app.entered.pin = pin
                let ended = await error { () throws(D1Error) in try await authn.enrollAuthnCredentials(.platform) }
                #expect(ended?.code == .invalidArgument)
                #expect(ended?.errorDescription?.contains(pin) == false)
                app.entered.pin = TestApp.pin
                try await authn.enrollAuthnCredentials(.platform)
            }
        }
    }

    @Test func `an app's own failure to get a code is the cause of the error`() async throws {
        struct Offline: Error, CustomStringConvertible { let description = "the app is offline" }
        try await TestApp.run { app in
            try await app.configured({ $0.enrollmentCode = { throw Offline() } }) { task in
                let payer = Payer.approving
                let authn = try #require(task.d1Authn(payer))
                let ended = await error { () throws(D1Error) in try await authn.enrollAuthnCredentials(.platform) }
                #expect(ended?.errorDescription == "authn [70001] (failed) the app is offline")
            }
        }
    }

    @Test func `a second enrollment is refused until the first has ended`() async throws {
        try await TestApp.enrolled(asking: Payer.approving) { _, authn in
            let ended = await error { () throws(D1Error) in try await authn.enrollAuthnCredentials(.platform) }
            #expect(ended?.cause?.name == "alreadyEnrolled")
        }
    }

    @Test func `an unenroll ends it at the issuer too, and once more is no error`() async throws {
        let payer = Payer.approving
        try await TestApp.enrolled(asking: payer) { app, authn in
            try await authn.unenrollAuthnCredentials()
            #expect(authn.enrolledAuthnType() == nil)
            try await authn.unenrollAuthnCredentials()
            let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(ended?.code == .authnNotEnrolled)
            await #expect(throws: TestIssuer.Refusal.self, "no authenticator is left") {
                try await app.issuer.purchase()
            }
            try await authn.enrollAuthnCredentials(.platform)
            try await app.issuer.purchase()
            try await authn.fetchAuthnRequest()
        }
    }

    @Test func `an issuer that does not hear of an unenroll leaves it as it was`() async throws {
        try await TestApp.enrolled(asking: Payer.approving) { app, authn in
            try await app.issuer.plan(["next": [["path": "unenroll", "status": 503]]])
            let ended = await error { () throws(D1Error) in try await authn.unenrollAuthnCredentials() }
            #expect(ended?.code == .authn)
            #expect(authn.enrolledAuthnType() == .platform)
        }
    }
}
