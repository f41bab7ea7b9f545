import ArgumentParser

/// The flags of the bounds, as text.
struct BoundFlags: ParsableArguments {
    @Option(name: .customLong("max-undecided"), help: ArgumentHelp(.maxUndecided, "count"))
    var maxUndecided: String?

    @Option(name: .customLong("max-refused"), help: ArgumentHelp(.maxRefused, "count"))
    var maxRefused: String?

    @Option(name: .customLong("max-messages"), help: ArgumentHelp(.maxMessages, "count"))
    var maxMessages: String?

    @Option(name: .customLong("max-cancellations"), help: ArgumentHelp(.maxCancellations, "count"))
    var maxCancellations: String?

    @Option(name: .customLong("max-request-octets"), help: ArgumentHelp(.maxRequestBytes, "bytes"))
    var maxRequestBytes: String?

    @Option(name: .customLong("max-held"), help: ArgumentHelp(.maxHeld, "count"))
    var maxHeld: String?

    @Option(name: .customLong("max-held-in-all"), help: ArgumentHelp(.maxHeldInAll, "count"))
    var maxHeldInAll: String?

    @Option(name: .customLong("log-pause"), help: ArgumentHelp(.logPause, "seconds"))
    var logPause: String?

    @Option(name: .customLong("poll-interval-with-push"), help: ArgumentHelp(.pollIntervalWithPush, "seconds"))
    var pollIntervalWithPush: String?

    @Option(name: .customLong("push-rate"), help: ArgumentHelp(.pushRate, "count"))
    var pushRate: String?

    @Option(name: .customLong("push-rate-in-all"), help: ArgumentHelp(.pushRateInAll, "count"))
    var pushRateInAll: String?

    @Option(name: .customLong("push-connections"), help: ArgumentHelp(.pushConnections, "count"))
    var pushConnections: String?

    @Option(name: .customLong("push-patience"), help: ArgumentHelp(.pushPatience, "seconds"))
    var pushPatience: String?

    @Option(name: .customLong("max-answer-octets"), help: ArgumentHelp(.maxAnswerBytes, "bytes"))
    var maxAnswerBytes: String?

    @Option(name: .customLong("max-list-octets"), help: ArgumentHelp(.maxListBytes, "bytes"))
    var maxListBytes: String?

    @Option(name: .customLong("max-list-requests"), help: ArgumentHelp(.maxListRequests, "count"))
    var maxListRequests: String?

    @Option(name: .customLong("control-connections"), help: ArgumentHelp(.controlConnections, "count"))
    var controlConnections: String?

    @Option(name: .customLong("control-patience"), help: ArgumentHelp(.controlPatience, "seconds"))
    var controlPatience: String?

    @Option(name: .customLong("control-header-octets"), help: ArgumentHelp(.controlHeaderBytes, "bytes"))
    var controlHeaderBytes: String?

    @Option(name: .customLong("control-body-octets"), help: ArgumentHelp(.controlBodyBytes, "bytes"))
    var controlBodyBytes: String?

    @Option(name: .customLong("events-kept"), help: ArgumentHelp(.eventsKept, "count"))
    var eventsKept: String?

    @Option(name: .customLong("audit-retention"), help: ArgumentHelp(.auditRetention, "days"))
    var auditRetention: String?

    @Option(name: .customLong("retention"), help: ArgumentHelp(.retention, "days"))
    var retention: String?

    /// The flag's value; nil if it was not given, or is not one of these flags.
    func value(of setting: Setting) -> String? {
        switch setting {
        case .maxUndecided: maxUndecided
        case .maxRefused: maxRefused
        case .maxMessages: maxMessages
        case .maxCancellations: maxCancellations
        case .maxRequestBytes: maxRequestBytes
        case .maxHeld: maxHeld
        case .maxHeldInAll: maxHeldInAll
        case .logPause: logPause
        case .pollIntervalWithPush: pollIntervalWithPush
        case .pushRate: pushRate
        case .pushRateInAll: pushRateInAll
        case .pushConnections: pushConnections
        case .pushPatience: pushPatience
        case .maxAnswerBytes: maxAnswerBytes
        case .maxListBytes: maxListBytes
        case .maxListRequests: maxListRequests
        case .controlConnections: controlConnections
        case .controlPatience: controlPatience
        case .controlHeaderBytes: controlHeaderBytes
        case .controlBodyBytes: controlBodyBytes
        case .eventsKept: eventsKept
        case .auditRetention: auditRetention
        case .retention: retention
        default: nil
        }
    }
}
