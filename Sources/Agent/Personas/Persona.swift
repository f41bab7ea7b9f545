#if Personas
import WrongAssertions

/// A scripted cardholder, under the name that testers use.
package enum Persona: String, Sendable, CaseIterable {
    case ask, autoApprove, autoDeny, denyAsFraud, neverAnswers
    case badSignature, wrongKey, wrongChallenge, oldAssertion, alteredAmount, wrongOrigin, wrongRpIdHash
    case wrongUserHandle, noUserPresence, noUserVerification, counterRegression, zeroCounter, malformedAssertion
    case crossOrigin
    case answersTwice, approvesThenDenies, answersAfterExpiry, crashesAfterSigning, floodsFetch, disappears

    package enum Group: String, Sendable {
        /// A normal cardholder's actions.
        case honest
        /// An assertion that an issuer has to refuse.
        case wrong
        /// Answers that come twice, too late or not at all.
        case timing
    }

    package var group: Group { traits.group }
    /// Its behaviour, in a sentence.
    package var summary: String { traits.summary }
    /// The error in its signature, or `nil` if it signs correctly or not at all.
    var wrong: WrongAssertion? { traits.wrong }

    private var traits: (group: Group, summary: String, wrong: WrongAssertion?) {
        switch self {
        case .ask: (.honest, "Waits for a person or a command to decide, whatever the rules say.", nil)
        case .autoApprove: (.honest, "Approves.", nil)
        case .autoDeny: (.honest, "Denies with reason userDenied.", nil)
        case .denyAsFraud: (.honest, "Denies with reason suspectedFraud.", nil)
        case .neverAnswers: (.honest, "Lets every request expire.", nil)
        case .badSignature: (.wrong, "The signature has one bit changed.", .badSignature)
        case .wrongKey: (.wrong, "The signature is another key's.", .wrongKey)
        case .wrongChallenge: (.wrong, "The signed challenge is not the one that was asked for.", .wrongChallenge)
        case .oldAssertion:
            (.wrong, "The assertion is that of the enrollment's last approval, which it makes first.", nil)
        case .alteredAmount: (.wrong, "The signed amount is ten times the one that was asked for.", .alteredAmount)
        case .wrongOrigin: (.wrong, "The signed origin is not the issuer's.", .wrongOrigin)
        case .wrongRpIdHash: (.wrong, "The signed rpIdHash is another relying party's.", .wrongRpIdHash)
        case .wrongUserHandle: (.wrong, "The userHandle is another user's.", .wrongUserHandle)
        case .noUserPresence: (.wrong, "The flag UP is not set.", .noUserPresence)
        case .noUserVerification: (.wrong, "The flag UV is not set.", .noUserVerification)
        case .counterRegression:
            (.wrong, "The signCount is the one before; the first approval is an honest one.", .counterRegression)
        case .zeroCounter: (.wrong, "The signCount is 0.", .zeroCounter)
        case .malformedAssertion: (.wrong, "The authenticator data is one byte too short.", .malformedAssertion)
        case .crossOrigin: (.wrong, "The client data says that it was made in a frame of another origin.", .crossOrigin)
        case .answersTwice: (.timing, "Approves, and sends the same approval again when it was taken.", nil)
        case .approvesThenDenies: (.timing, "Approves, and sends a deny when the approval was taken.", nil)
        case .answersAfterExpiry: (.timing, "Sends a right approval one second after the request expired.", nil)
        case .crashesAfterSigning:
            (.timing, "Ends the agent's process once it has signed; after the next start it approves.", nil)
        case .floodsFetch: (.timing, "Fetches 500 times in a row, and then approves.", nil)
        case .disappears: (.timing, "Unenrolls while the request is open.", nil)
        }
    }
}
#endif
