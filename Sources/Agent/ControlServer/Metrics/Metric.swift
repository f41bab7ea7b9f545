/// The agent's metrics: name, type and help text.
enum Metric: String, CaseIterable, Sendable {
    case buildInfo = "oob_agent_build_info"
    case startTime = "oob_agent_start_time_seconds"
    case ready = "oob_agent_ready"
    case notReady = "oob_agent_not_ready_reasons"
    case databaseHealthy = "oob_agent_database_healthy"
    case journalHead = "oob_agent_journal_head"
    case descriptorsRefused = "oob_agent_descriptors_refused_total"
    case freeDisk = "oob_agent_disk_free_bytes"
    case databaseBytes = "oob_agent_database_bytes"
    case keysUnusable = "oob_agent_keys_unusable"
    case enrollments = "oob_agent_enrollments"
    case enrollmentsTroubled = "oob_agent_enrollments_troubled"
    case signedElsewhere = "oob_agent_enrollments_signed_elsewhere"
    case requestsPending = "oob_agent_requests_pending"
    case oldestPending = "oob_agent_oldest_pending_age_seconds"
    case decisionsQueued = "oob_agent_decisions_queued"
    case oldestQueued = "oob_agent_oldest_queued_age_seconds"
    case requestsPresented = "oob_agent_requests_presented_total"
    case requestsEnded = "oob_agent_requests_ended_total"
    case requestsRefused = "oob_agent_requests_refused_total"
    case messages = "oob_agent_messages_total"
    case messagesRepeated = "oob_agent_messages_repeated_total"
    case messagesDropped = "oob_agent_messages_dropped_total"
    case pushesRefused = "oob_agent_pushes_refused_total"
    case pushConnections = "oob_agent_push_connections"
    case pushConnectionsCut = "oob_agent_push_connections_cut_total"
    case decisionsAnswered = "oob_agent_decisions_answered_total"
    case decisionsFailed = "oob_agent_decisions_failed_total"
    case decisionDuration = "oob_agent_decision_duration_seconds"
    case deliveryDuration = "oob_agent_delivery_duration_seconds"
    case issuersPaused = "oob_agent_issuers_paused"
    case issuerPause = "oob_agent_issuer_pause_seconds"
    case leaseChanges = "oob_agent_lease_changes_total"
    case epochRefusals = "oob_agent_epoch_refusals_total"
    case lockTimeouts = "oob_agent_lock_timeouts_total"
    case repeatedWrites = "oob_agent_repeated_writes_total"
    case commitsInDoubt = "oob_agent_commits_in_doubt_total"
    case clockAhead = "oob_agent_database_clock_difference_seconds"

    var kind: String {
        switch self {
        case .decisionDuration, .deliveryDuration: "histogram"
        default: rawValue.hasSuffix("_total") ? "counter" : "gauge"
        }
    }

    /// The help text: one line, without a backslash.
    var help: String {
        switch self {
        case .buildInfo:
            "Always 1; its labels are the version, and whether the agent was built with personas, for tests."
        case .startTime: "When the agent started, seconds since 1970; counters begin at 0 then."
        case .ready: "1 if the agent can do its work for every enrollment, as /v1/health says."
        case .notReady:
            "Why it is not ready, by cause: enrollments, and 1 for starting, database, restored, headMissing, rowsChanged, clockAhead, "
                + "descriptors and socket."
        case .databaseHealthy: "1 if the database can be read, and the last write went well."
        case .journalHead:
            "The number of the newest entry of this host's journal. If it falls, the database is an older one."
        case .descriptorsRefused: "Descriptors that the system refused (EMFILE, ENFILE): raise the limit of open files."
        case .freeDisk: "Bytes that are free on the disk of the state directory."
        case .databaseBytes: "Bytes of the database; of one in a file, without its log."
        case .keysUnusable: "Enrollments whose key could not be used when it was last looked at."
        case .enrollments: "Enrollments that are not over, by state."
        case .enrollmentsTroubled: "Enrollments for which the agent cannot do its work; oobctl status says why."
        case .signedElsewhere: "Enrollments with whose key someone else signs, as oobctl doctor says."
        case .requestsPending: "Requests that wait for a decision."
        case .oldestPending: "How long ago the oldest of them came; 0 if there is none."
        case .decisionsQueued: "Decisions, and refusals of the agent's own, that the issuer has not answered yet."
        case .oldestQueued: "How long ago the oldest of them was decided; 0 if there is none."
        case .requestsPresented: "Requests that were in order and presented."
        case .requestsEnded: "Requests that came to an end on this side, by outcome."
        case .requestsRefused: "Requests that the agent refused by itself, by the rule that did not hold."
        case .messages: "Requests that came for the first time, by channel."
        case .messagesRepeated: "Messages that came again, by whatever channel."
        case .messagesDropped: "Messages that were neither presented nor answered, by reason."
        case .pushesRefused: "Pushes to a known endpoint that were not taken."
        case .pushConnections: "Connections to the push port that are open."
        case .pushConnectionsCut:
            "Connections to the push port that the agent closed: slow for a sender that took too long, crowded for one "
                + "that went for another, refused for a newcomer for whom nobody could go."
        case .decisionsAnswered: "Decisions that the issuer answered, by transStatus."
        case .decisionsFailed: "Decisions that ended without the issuer having taken them, by reason."
        case .decisionDuration: "From a request's coming to the decision about it; measured in whole seconds."
        case .deliveryDuration: "From a decision to the issuer's answer; measured in whole seconds."
        case .issuersPaused: "Issuers that could not be reached, and are asked again after a pause."
        case .issuerPause: "How long until that; only if at most 50 issuers are paused."
        case .leaseChanges:
            "Parts of the work (256 in all) that this host took, and that it lost or gave back; several hosts only."
        case .epochRefusals:
            "Ends of deliveries that this host left to the one that has the work now; several hosts only."
        case .lockTimeouts: "Writes that gave up waiting for a row that another host held; several hosts only."
        case .repeatedWrites:
            "Writes that were made again, as another host's commit came first; several hosts only."
        case .commitsInDoubt:
            "Commits whose answer was lost with the connection: settled, or not known in time; several hosts only."
        case .clockAhead: "How far this host's clock is ahead of the database's; several hosts only."
        }
    }
}
