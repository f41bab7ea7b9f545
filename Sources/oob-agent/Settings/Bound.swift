import Authenticator
import ControlServer
import IssuerLink
import PushReceiver

/// A setting that says how much of something there may be: a whole number in a range.
struct Bound {
    let setting: Setting
    /// "The most undecided requests of one enrollment", for its help.
    let what: String
    let range: ClosedRange<Int>
    /// What holds unless it is set.
    let usual: Int

    init(_ setting: Setting, _ what: String, in range: ClosedRange<Int>, usual: Int) {
        self.setting = setting
        self.what = what
        self.range = range
        self.usual = usual
    }

    var help: String { "\(what), \(range.lowerBound) to \(range.upperBound). Default: \(usual)." }
}

// If the protocol or a format bounds something itself, the range ends there: a setting can only lower it.
extension Bound {
    /// Each, by its setting.
    static let of = Dictionary(uniqueKeysWithValues: all.map { ($0.setting, $0) })

    private static let all = [
        Bound(
            .hostLease,
            "The milliseconds for which a host's part of the work stays with it though it does not renew that; the same on "
                + "all hosts of the database",
            in: 300...60_000, usual: 15_000),
        Bound(.maxUndecided, "The most undecided requests of one enrollment", in: 1...100_000, usual: agent.undecided),
        Bound(
            .maxRefused,
            "The most requests of one enrollment within 24 hours that are kept though they are never presented",
            in: 1...agent.refusedADay, usual: agent.refusedADay),
        Bound(
            .maxMessages,
            "The most messages of one enrollment within 24 hours, whatever becomes of them",
            in: 100...1_000_000, usual: agent.messagesADay),
        Bound(
            .maxCancellations, "The most cancellations of one enrollment that are remembered", in: 1...100_000,
            usual: agent.cancellations),
        Bound(
            .maxRequestBytes, "The most bytes of one request", in: 1_024...agent.messageBytes, usual: agent.messageBytes
        ),
        Bound(
            .maxHeld, "The most requests of one enrollment that are held in memory until they can be judged",
            in: 1...1_000,
            usual: agent.heldOfEnrollment),
        Bound(
            .maxHeldInAll, "The most requests that are held so, of all enrollments together", in: 1...100_000,
            usual: agent.held),
        Bound(
            .logPause, "The seconds between two log lines about one bad peer", in: 60...86_400,
            usual: Int(agent.logPause)),
        Bound(
            .maxAnswerBytes, "The most bytes of an issuer's answer", in: 16_384...answer.bodyBytes,
            usual: answer.bodyBytes),
        Bound(
            .maxListBytes, "The most bytes of an issuer's list of requests", in: 16_384...answer.listBytes,
            usual: answer.listBytes),
        Bound(
            .maxListRequests, "The most requests in an issuer's list", in: 1...answer.listRequests,
            usual: answer.listRequests),
        Bound(
            .pollIntervalWithPush, "The seconds from one poll to the next while pushes come", in: 1...3_600,
            usual: Int(PushSettings.usualPollInterval)),
        Bound(
            .pushRate, "The most pushes to one enrollment in a minute", in: 1...60_000,
            usual: Int(PushRates().ofEndpoint)),
        Bound(
            .pushRateInAll, "The most pushes in a minute, to all enrollments together", in: 1...6_000_000,
            usual: Int(PushRates().inAll)),
        Bound(
            .pushConnections, "The most connections for pushes, \(withinFiles)", in: 2...4_096,
            usual: PushBounds.standard.connections),
        Bound(
            .pushPatience, "The seconds that a sender has for a whole push", in: 1...600,
            usual: PushBounds.standard.patience),
        Bound(
            .controlConnections, "The most connections on the control socket, \(withinFiles)", in: 2...4_096,
            usual: control.connections),
        Bound(
            .controlPatience,
            "The seconds that a client of the control socket has to send a request or to read an answer", in: 1...600,
            usual: control.patience),
        Bound(
            .controlHeaderBytes, "The most bytes of a control request's header fields", in: 1_024...65_536,
            usual: control.headerBytes),
        Bound(
            .controlBodyBytes, "The most bytes of a control request's body", in: 1_024...control.bodyBytes,
            usual: control.bodyBytes),
        Bound(
            .eventsKept, "From how many of the journal's newest entries events are replayed", in: 1_000...10_000_000,
            usual: 100_000),
        Bound(.auditRetention, "The days for which the journal's entries are kept", in: 30...3_660, usual: 400),
        Bound(
            .retention, "The days for which requests that are over are kept, and known again", in: 2...3_660, usual: 400
        ),
    ]

    /// What `FileLimit` sees to.
    private static let withinFiles = "within a quarter of the files that the agent may open"
    private static let agent = AgentBounds.standard
    private static let answer = AnswerBounds.standard
    private static let control = ControlBounds.standard
}
