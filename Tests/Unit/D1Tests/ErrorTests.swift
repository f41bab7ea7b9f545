import Control
import D1
import Foundation
import Testing

struct ErrorTests {
    @Test func `the codes have D1's numbers`() {
        let numbers = Dictionary(uniqueKeysWithValues: D1Error.Code.allCases.map { ("\($0)", $0.rawValue) })
        #expect(
            numbers == [
                "cancelled": 10001, "notLoggedIn": 10005, "notAuthorized": 10006, "deviceEnvironmentUnsafe": 10007,
                "core": 20001, "notInitialized": 60001, "invalidArgument": 60002, "authn": 70001,
                "authnNotEnrolled": 70002, "authnAccessDenied": 70003, "authnBlocked": 70004,
                "authnInvalidEnrollmentToken": 70005, "authenticatorNotAvailable": 70006,
            ])
    }

    @Test func `the control API gives the same numbers under the same names`() {
        for code in D1Code.allCases {
            #expect(D1Error.Code(rawValue: code.rawValue).map { "\($0)" } == code.name)
        }
    }

    @Test func `an error says its name, number and cause to whoever knows only Error`() async throws {
        let task = D1Task.Components().task()
        do {
            try await task.configure()
            Issue.record("it has no settings")
        } catch {
            let unknown: any Error = error
            #expect(
                unknown.localizedDescription
                    == "invalidArgument [60002] (invalidArgument) d1ServiceURLString: is missing: give the issuer's URL"
            )
            #expect("\(unknown)" == unknown.localizedDescription)
            let cause: any Error = try #require(error.cause)
            #expect(cause.localizedDescription == "d1ServiceURLString: is missing: give the issuer's URL")
        }
    }
}
