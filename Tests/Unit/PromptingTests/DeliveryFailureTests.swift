import Control
import Testing

@testable import Prompting

/// Why a decision did not reach its issuer, as a sentence.
struct DeliveryFailureTests {
    @Test(
        arguments: [
            ("expired", nil, "the request expired before it was delivered."),
            (
                "expired", "the issuer answered 503",
                "the request expired before it was delivered; the last try: the issuer answered 503."
            ),
            ("unenrolled", nil, "its enrollment ended before it was delivered."),
            ("damaged", nil, "it was not in the agent's database as the agent wrote it, and was not sent."),
            ("already_decided", "the issuer answered already_decided", "the issuer answered already_decided."),
            ("already_decided", nil, "the issuer answered already_decided."),
            (nil, nil, "it was not delivered."),
        ] as [(String?, String?, String)])
    func `it is said why`(failure: String?, error: String?, sentence: String) {
        var request = Sample.request(state: .approved, delivery: .failed)
        request.deliveryFailure = failure
        request.deliveryError = error
        let outcome = DecisionOutcome(.approve, request)
        #expect(outcome.status == .notTaken && outcome.sentence.contains(": " + sentence))
    }

    @Test(arguments: [("a\u{202E}b", #"a\u{202E}b"#), (#"a\u{202E}b"#, #"a\\u{202E}b"#)])
    func `the merchant's name is as the screen shows it, so that it stands for one name`(name: String, shown: String) {
        var request = Sample.request(state: .denied, delivery: .delivered)
        request.merchantName = name
        #expect(DecisionOutcome(.deny, request).sentence.contains(" to \(shown): "))
    }
}
