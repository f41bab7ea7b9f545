import Authenticator
import Records

/// The agent's figures in Prometheus' text format 0.0.4.
struct MetricsText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"
    /// The most issuers that have a line of their own.
    static let maxIssuers = 50

    private var lines: [String] = []

    var bytes: [UInt8] { Array((lines.joined(separator: "\n") + "\n").utf8) }

    init(_ figures: AgentFigures) {
        one(.buildInfo, 1, labels: ["version": figures.version, "personas": "\(figures.hasPersonas)"])
        one(.startTime, figures.startedAt)
        one(.ready, figures.isReady ? 1 : 0)
        some(
            .notReady, by: "cause",
            Dictionary(uniqueKeysWithValues: figures.notReady.map { ($0.key.rawValue, $0.value) }))
        one(.databaseHealthy, figures.isStoreHealthy ? 1 : 0)
        one(.journalHead, figures.journalHead)
        one(.descriptorsRefused, Int64(figures.descriptors.refused))
        if let free = figures.freeDisk { one(.freeDisk, free) }
        if let holdings = figures.holdings { one(.databaseBytes, holdings.databaseBytes) }
        one(.keysUnusable, Int64(figures.unusableKeys))
        if let holdings = figures.holdings { add(holdings) }
        add(figures.work)
        some(.messages, by: "channel", ["push": figures.pushed, "poll": figures.polled])
        one(.messagesRepeated, Int64(figures.repeated))
        some(.messagesDropped, by: "reason", Self.words(figures.drops))
        one(.pushesRefused, Int64(figures.refusedPushes))
        one(.pushConnections, Int64(figures.pushConnections.open))
        let cut = figures.pushConnections
        some(.pushConnectionsCut, by: "reason", ["slow": cut.slow, "crowded": cut.crowded, "refused": cut.refused])
        add(pauses: figures.pauses)
        if let hosts = figures.hosts { add(hosts) }
    }

    private mutating func add(_ hosts: HostFigures) {
        some(.leaseChanges, by: "change", ["taken": hosts.sharesTaken, "lost": hosts.sharesLost])
        one(.epochRefusals, Int64(hosts.staleEnds))
        one(.lockTimeouts, Int64(hosts.lockTimeouts))
        one(.repeatedWrites, Int64(hosts.repeatedWrites))
        let settled = hosts.commitsInDoubt - hosts.unclearCommits
        some(.commitsInDoubt, by: "result", ["settled": settled, "unknown": hosts.unclearCommits])
        one(.clockAhead, hosts.secondsAhead)
    }

    private mutating func add(_ holdings: AgentFigures.Holdings) {
        some(
            .enrollments, by: "state",
            ["enrolling": holdings.enrolling, "active": holdings.active, "suspended": holdings.suspended])
        one(.enrollmentsTroubled, Int64(holdings.troubled))
        one(.signedElsewhere, Int64(holdings.signedElsewhere))
        one(.requestsPending, Int64(holdings.pending))
        one(.oldestPending, holdings.oldestPending)
        one(.decisionsQueued, Int64(holdings.queued))
        one(.oldestQueued, holdings.oldestQueued)
    }

    private mutating func add(_ work: WorkCounts) {
        one(.requestsPresented, Int64(work.presented))
        some(.requestsEnded, by: "outcome", Self.words(work.outcomes))
        some(.requestsRefused, by: "reason", work.refusals.counts)
        some(.decisionsAnswered, by: "trans_status", work.answers.counts)
        some(.decisionsFailed, by: "reason", work.failures.counts)
        add(.decisionDuration, work.timeToDecision)
        add(.deliveryDuration, work.timeToDelivery)
    }

    private mutating func add(pauses: [String: Int64]) {
        one(.issuersPaused, Int64(pauses.count))
        guard pauses.count <= Self.maxIssuers else { return }
        some(.issuerPause, by: "issuer", pauses.mapValues(Int.init))
    }

    // MARK: Lines

    private mutating func begin(_ metric: Metric) {
        lines.append("# HELP \(metric.rawValue) \(metric.help)")
        lines.append("# TYPE \(metric.rawValue) \(metric.kind)")
    }

    private mutating func one(_ metric: Metric, _ value: Int64, labels: [String: String] = [:]) {
        begin(metric)
        lines.append(metric.rawValue + Self.text(of: labels) + " \(value)")
    }

    private mutating func some(_ metric: Metric, by label: String, _ values: [String: Int]) {
        begin(metric)
        for (word, value) in values.sorted(by: { $0.key < $1.key }) {
            lines.append(metric.rawValue + Self.text(of: [label: word]) + " \(value)")
        }
    }

    private mutating func add(_ metric: Metric, _ histogram: DurationHistogram) {
        begin(metric)
        var total = 0
        let limits = DurationHistogram.bounds.map { "\($0)" } + ["+Inf"]
        for (limit, count) in zip(limits, histogram.counts) {
            total += count
            lines.append("\(metric.rawValue)_bucket" + Self.text(of: ["le": limit]) + " \(total)")
        }
        lines.append("\(metric.rawValue)_sum \(histogram.sum)")
        lines.append("\(metric.rawValue)_count \(total)")
    }

    /// Formats labels; escapes a backslash, a quote and a line feed in a value.
    static func text(of labels: [String: String]) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = labels.sorted { $0.key < $1.key }.map { name, value in
            "\(name)=\"\(escaped(value))\""
        }
        return "{\(pairs.joined(separator: ","))}"
    }

    /// Works on scalars: a quote counts also before a combining mark, and a line feed also after a carriage return.
    private static func escaped(_ value: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\", "\"": text.append(contentsOf: ["\\", scalar])
            case "\n": text.append(contentsOf: ["\\", "n"])
            default: text.append(scalar)
            }
        }
        return String(text)
    }

    /// The counts, with 0 for each word without a count.
    private static func words<Word: RawRepresentable<String> & CaseIterable & Hashable>(
        _ counts: [Word: Int]
    ) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: Word.allCases.map { ($0.rawValue, counts[$0] ?? 0) })
    }
}
