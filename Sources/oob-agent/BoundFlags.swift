import ArgumentParser

/// The flags of the bounds, as text.
struct BoundFlags: ParsableArguments {
    @Option(name: .customLong("max-undecided"), help: help(.maxUndecided, "count"))
    var maxUndecided: String?

    @Option(name: .customLong("max-refused"), help: help(.maxRefused, "count"))
    var maxRefused: String?

    @Option(name: .customLong("max-cancellations"), help: help(.maxCancellations, "count"))
    var maxCancellations: String?

    @Option(name: .customLong("max-request-octets"), help: help(.maxRequestOctets, "octets"))
    var maxRequestOctets: String?

    @Option(name: .customLong("max-held"), help: help(.maxHeld, "count"))
    var maxHeld: String?

    @Option(name: .customLong("max-held-in-all"), help: help(.maxHeldInAll, "count"))
    var maxHeldInAll: String?

    @Option(name: .customLong("log-pause"), help: help(.logPause, "seconds"))
    var logPause: String?

    @Option(name: .customLong("poll-interval-with-push"), help: help(.pollIntervalWithPush, "seconds"))
    var pollIntervalWithPush: String?

    @Option(name: .customLong("push-rate"), help: help(.pushRate, "count"))
    var pushRate: String?

    @Option(name: .customLong("push-rate-in-all"), help: help(.pushRateInAll, "count"))
    var pushRateInAll: String?

    @Option(name: .customLong("push-connections"), help: help(.pushConnections, "count"))
    var pushConnections: String?

    @Option(name: .customLong("push-patience"), help: help(.pushPatience, "seconds"))
    var pushPatience: String?

    @Option(name: .customLong("max-answer-octets"), help: help(.maxAnswerOctets, "octets"))
    var maxAnswerOctets: String?

    @Option(name: .customLong("max-list-octets"), help: help(.maxListOctets, "octets"))
    var maxListOctets: String?

    @Option(name: .customLong("max-list-requests"), help: help(.maxListRequests, "count"))
    var maxListRequests: String?

    @Option(name: .customLong("control-connections"), help: help(.controlConnections, "count"))
    var controlConnections: String?

    @Option(name: .customLong("control-patience"), help: help(.controlPatience, "seconds"))
    var controlPatience: String?

    @Option(name: .customLong("control-header-octets"), help: help(.controlHeaderOctets, "octets"))
    var controlHeaderOctets: String?

    @Option(name: .customLong("control-body-octets"), help: help(.controlBodyOctets, "octets"))
    var controlBodyOctets: String?

    @Option(name: .customLong("events-kept"), help: help(.eventsKept, "count"))
    var eventsKept: String?

    @Option(name: .customLong("audit-retention"), help: help(.auditRetention, "days"))
    var auditRetention: String?

    @Option(name: .customLong("retention"), help: help(.retention, "days"))
    var retention: String?

    private static func help(_ bound: Bound, _ unit: String) -> ArgumentHelp {
        ArgumentHelp(bound.help, valueName: unit)
    }

    /// Nil for what was not given, and for a setting that is no bound.
    func value(of setting: Setting) -> String? {
        switch setting {
        case .maxUndecided: maxUndecided
        case .maxRefused: maxRefused
        case .maxCancellations: maxCancellations
        case .maxRequestOctets: maxRequestOctets
        case .maxHeld: maxHeld
        case .maxHeldInAll: maxHeldInAll
        case .logPause: logPause
        case .pollIntervalWithPush: pollIntervalWithPush
        case .pushRate: pushRate
        case .pushRateInAll: pushRateInAll
        case .pushConnections: pushConnections
        case .pushPatience: pushPatience
        case .maxAnswerOctets: maxAnswerOctets
        case .maxListOctets: maxListOctets
        case .maxListRequests: maxListRequests
        case .controlConnections: controlConnections
        case .controlPatience: controlPatience
        case .controlHeaderOctets: controlHeaderOctets
        case .controlBodyOctets: controlBodyOctets
        case .eventsKept: eventsKept
        case .auditRetention: auditRetention
        case .retention: retention
        default: nil
        }
    }
}
