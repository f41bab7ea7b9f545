import Testing

@testable import Authenticator
@testable import ControlServer
@testable import Records

/// The figures as Prometheus reads them.
@Suite struct MetricsTextTests {
    private func figures(
        holdings: AgentFigures.Holdings? = .init(), work: WorkCounts = .init(), pauses: [String: Int64] = [:],
        hosts: HostFigures? = .init(), hasPersonas: Bool = false
    ) -> AgentFigures {
        AgentFigures(
            version: "1.2.3", hasPersonas: hasPersonas, startedAt: 1_700_000_000, isReady: true, isStarting: true,
            isStoreHealthy: true, doubts: [.restored], journalHead: 23, isSocketThere: true, unusableKeys: 2,
            freeDisk: 12, holdings: holdings, work: work, pushed: 3,
            polled: 4, repeated: 5,
            refusedPushes: 6,
            drops: [.future: 7], pauses: pauses, hosts: hosts,
            pushConnections: PortFigures(open: 8, refused: 9, crowded: 10, slow: 11))
    }

    private func lines(_ figures: AgentFigures) -> [String] {
        String(decoding: MetricsText(figures).bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func `every metric is there once, with its help and its kind`() {
        let lines = lines(figures())
        for metric in Metric.allCases {
            #expect(lines.filter { $0 == "# HELP \(metric.rawValue) \(metric.help)" }.count == 1)
            #expect(lines.filter { $0 == "# TYPE \(metric.rawValue) \(metric.kind)" }.count == 1)
            #expect(!metric.help.contains("\\") && !metric.help.contains("\n"))
        }
        #expect(lines.filter { $0.hasPrefix("#") }.count == 2 * Metric.allCases.count)
    }

    @Test func `each figure is under its name`() {
        var holdings = AgentFigures.Holdings(enrolling: 11, active: 12, suspended: 13, troubled: 14, pending: 15)
        holdings.oldestPending = 16
        holdings.signedElsewhere = 18
        holdings.oldestQueued = 19
        holdings.queued = 17
        holdings.troubles = [.key: 20, .issuer: 21, .suspended: 22]
        let lines = Set(lines(figures(holdings: holdings)))
        let expected = [
            #"build_info{personas="false",version="1.2.3"} 1"#, "start_time_seconds 1700000000", "ready 1",
            "database_healthy 1", "journal_head 23",
            #"not_ready_reasons{cause="restored"} 1"#, #"not_ready_reasons{cause="headMissing"} 0"#,
            "keys_unusable 2", #"enrollments{state="enrolling"} 11"#, #"enrollments{state="active"} 12"#,
            #"enrollments{state="suspended"} 13"#, "enrollments_troubled 14", "requests_pending 15",
            "oldest_pending_age_seconds 16", "decisions_queued 17", "enrollments_signed_elsewhere 18",
            #"not_ready_reasons{cause="starting"} 1"#, #"not_ready_reasons{cause="database"} 0"#,
            #"not_ready_reasons{cause="socket"} 0"#,
            #"not_ready_reasons{cause="key"} 20"#, #"not_ready_reasons{cause="issuer"} 21"#,
            #"not_ready_reasons{cause="suspended"} 22"#,
            "oldest_queued_age_seconds 19", #"messages_total{channel="push"} 3"#,
            #"messages_total{channel="poll"} 4"#, "messages_repeated_total 5", "pushes_refused_total 6",
            "push_connections 8", #"push_connections_cut_total{reason="refused"} 9"#,
            #"push_connections_cut_total{reason="crowded"} 10"#, #"push_connections_cut_total{reason="slow"} 11"#,
            #"messages_dropped_total{reason="future"} 7"#, #"messages_dropped_total{reason="over_quota"} 0"#,
            #"requests_ended_total{outcome="approved"} 0"#, #"requests_refused_total{reason="rpId"} 0"#,
            #"decisions_failed_total{reason="expired"} 0"#, #"decisions_answered_total{trans_status="Y"} 0"#,
        ]
        for line in expected { #expect(lines.contains("oob_agent_" + line)) }
    }

    @Test func `a build with personas says so`() {
        #expect(lines(figures(hasPersonas: true)).contains(#"oob_agent_build_info{personas="true",version="1.2.3"} 1"#))
    }

    @Test func `what a host meets of others is there only if there are several`() {
        var met = HostFigures()
        (met.sharesTaken, met.sharesLost, met.staleEnds, met.lockTimeouts) = (1, 2, 3, 4)
        (met.repeatedWrites, met.commitsInDoubt, met.unclearCommits, met.secondsAhead) = (5, 8, 2, -7)
        let expected = [
            #"lease_changes_total{change="taken"} 1"#, #"lease_changes_total{change="lost"} 2"#,
            "epoch_refusals_total 3", "lock_timeouts_total 4", "repeated_writes_total 5",
            #"commits_in_doubt_total{result="settled"} 6"#, #"commits_in_doubt_total{result="unknown"} 2"#,
            "database_clock_difference_seconds -7",
        ]
        let lines = Set(lines(figures(hosts: met)))
        for line in expected { #expect(lines.contains("oob_agent_" + line)) }
        let alone = self.lines(figures(hosts: nil))
        #expect(!alone.contains { $0.contains("lease_changes") || $0.contains("database_clock") })
    }

    @Test func `if the store cannot be read there is no number of what it holds`() {
        let lines = lines(figures(holdings: nil))
        #expect(!lines.contains { $0.hasPrefix("oob_agent_requests_pending") })
        #expect(!lines.contains { $0.hasPrefix(#"oob_agent_not_ready_reasons{cause="issuer"}"#) })
        #expect(lines.contains("oob_agent_database_healthy 1"))
    }

    @Test func `a histogram's buckets hold all that is below them`() {
        var times = DurationHistogram()
        for seconds: Int64 in [1, 2, 2, 700] { times.count(seconds) }
        var work = WorkCounts()
        work.timeToDecision = times
        let lines = lines(figures(work: work))
        let name = "oob_agent_decision_duration_seconds"
        let own = lines.filter { $0.hasPrefix(name) }
        #expect(own.first == #"\#(name)_bucket{le="1"} 1"#)
        #expect(own.contains(#"\#(name)_bucket{le="2"} 3"#) && own.contains(#"\#(name)_bucket{le="600"} 3"#))
        #expect(own.suffix(3) == [#"\#(name)_bucket{le="+Inf"} 4"#, "\(name)_sum 705", "\(name)_count 4"])
    }

    @Test func `fifty issuers have a line each, and more are only counted`() {
        func pauses(_ count: Int) -> [String: Int64] {
            Dictionary(uniqueKeysWithValues: (0..<count).map { ("https://\($0).example", 5) })
        }
        let some = lines(figures(pauses: pauses(50)))
        #expect(some.contains(#"oob_agent_issuer_pause_seconds{issuer="https://49.example"} 5"#))
        #expect(some.contains("oob_agent_issuers_paused 50"))
        let many = lines(figures(pauses: pauses(51)))
        #expect(many.contains("oob_agent_issuers_paused 51"))
        #expect(!many.contains { $0.hasPrefix("oob_agent_issuer_pause_seconds{") })
    }

    @Test func `a label's value cannot end before its end`() {
        #expect(MetricsText.text(of: ["a": "\\ \" \n"]) == #"{a="\\ \" \n"}"#)
        #expect(MetricsText.text(of: [:]) == "")
        // One character each, and two scalars.
        #expect(
            Array(MetricsText.text(of: ["a": "\"\u{301}\\\u{301}\r\n"]).utf8)
                == Array("{a=\"\\\"\u{301}\\\\\u{301}\r\\n\"}".utf8))
    }

    @Test(arguments: ["localhost", "LOCALHOST:9464", "127.0.0.1:9464", "127.9.9.9", "[::1]", "[::1]:9464"])
    func `this machine is asked for`(authority: String) {
        #expect(MetricsResponder.isLoopback(authority))
    }

    @Test(arguments: [
        nil, "", "evil.example:9464", "127.evil.example", "192.0.2.1", "[::2]:1", "localhost.evil.example",
    ])
    func `another name is not this machine's`(authority: String?) {
        #expect(!MetricsResponder.isLoopback(authority))
    }
}
