import IssuerProtocol
import Records

/// How much of what issuers send is taken in.
///
/// An operator sets ``enrollments``, ``undecided`` and ``storedBytes``. The others are constants, which tests make small.
package struct AgentBounds: Sendable {
    /// The most enrollments that have not ended, of one agent, or of all hosts that share its store.
    ///
    /// Enrolls that are under way when it is reached go on to their end.
    package var enrollments = 100_000
    /// The same for hosts that share a store.
    package static let enrollmentsOfHosts = 10_000_000
    /// The most undecided requests of one enrollment; one more is refused.
    package var undecided = 1_000
    /// The most requests of one enrollment within 24 hours that are kept though they are never presented.
    ///
    /// Those are refused, and answered so, or too late. One more is dropped.
    package var refusedADay = 10_000
    /// The most messages of one enrollment within 24 hours; one more request is dropped.
    ///
    /// Messages count whatever becomes of them, and those of up to five minutes more count too.
    package var messagesADay = 20_000
    /// The most bytes that are stored of what one issuer sends; then its new requests are refused.
    ///
    /// The rest of a refusal that is kept has an eighth of that besides. Past it messages are dropped, but cancellations
    /// only past a quarter.
    package var storedBytes = 16 << 30
    /// The same for hosts that share a store.
    package static let storedBytesOfHosts = 1 << 40
    /// The same of one enrollment.
    package var storedBytesOfEnrollment = 256 << 20
    /// The most cancellations of one enrollment that are remembered at a time; one more is dropped.
    package var cancellations = 10_000
    /// The bytes of one message; a longer one is dropped.
    package var messageBytes = AuthnRequestReader.maxBytes
    /// The most messages held in memory, of one enrollment and of all; one more is dropped.
    package var heldOfEnrollment = 100
    package var held = 10_000
    /// The most bytes of what one enrollment, and all together, have there.
    package var heldBytesOfEnrollment = 256 << 10
    package var heldBytes = 16 << 20
    /// The seconds between two log lines about one bad peer.
    package var logPause: Int64 = 60

    package static let standard = AgentBounds()

    package init() {}

    package init(_ change: (inout AgentBounds) -> Void) { change(&self) }
}

extension AgentBounds {
    /// Whether something may still be stored beside what is there, of an enrollment and of its issuer.
    ///
    /// - Parameter eighths: of the bounds, which it may have besides.
    func hasRoom(beside tally: StoredTally, eighthsMore eighths: Int = 0) -> Bool {
        tally.bytes < storedBytesOfEnrollment + storedBytesOfEnrollment / 8 * eighths
            && tally.bytesOfIssuer < storedBytes + storedBytes / 8 * eighths
    }
}
