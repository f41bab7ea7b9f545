/// The calls of the control API, each with its line in openapi/agent.yaml.
package enum ControlRoute: CaseIterable, Sendable {
    case status, health, metrics, doctor, openapi, clock, advanceClock
    case enrollments, enroll, unenroll, changePIN, exportKey, exportPublicKey, rotatePush, fetch
    case requests, request, evidence, approve, deny
    case events, audit, auditHosts, auditKey, verifyAudit, backup
    case personas, setPersona, clearPersona, explanation, explanations, reloadRules, fleet

    package var method: String { facts.method }
    /// The path, in which a variable segment is a name in braces.
    package var path: String { facts.path }
    /// The right that a peer needs: `.decide` for a change and for a backup, `.own` for a key.
    package var right: ControlRight { facts.right }
    /// The media type of a successful answer.
    package var mediaType: String { facts.mediaType }
    /// The names that its query may have.
    package var parameters: [String] { facts.parameters }

    /// The calls on a path, of any method.
    static func all(at path: String) -> [ControlRoute] {
        let segments = segments(of: path).map { Array($0.utf8) }
        return paths.filter { matches($0.segments, segments) }.map(\.route)
    }

    /// Routes with their path segments as bytes, split once; a name in braces is `nil`.
    private static let paths = allCases.map { route in
        (route: route, segments: segments(of: route.path).map { $0.hasPrefix("{") ? nil : Array($0.utf8) })
    }

    /// The parts between the slashes.
    static func segments(of path: String) -> [Substring] {
        path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
    }

    private static func matches(_ own: [[UInt8]?], _ segments: [[UInt8]]) -> Bool {
        own.count == segments.count
            && zip(own, segments).allSatisfy { own, segment in own.map { $0 == segment } ?? true }
    }

    private typealias Facts = (
        method: String, path: String, right: ControlRight, mediaType: String, parameters: [String]
    )

    private static let json = "application/json"

    private var facts: Facts {
        switch self {
        case .status: ("GET", "/v1/status", .look, Self.json, [])
        case .health: ("GET", "/v1/health", .look, Self.json, [])
        case .metrics: ("GET", "/v1/metrics", .look, MetricsText.contentType, [])
        case .doctor: ("GET", "/v1/doctor", .look, Self.json, [])
        case .openapi: ("GET", "/v1/openapi.yaml", .look, "application/yaml", [])
        case .clock: ("GET", "/v1/clock", .look, Self.json, [])
        case .advanceClock: ("POST", "/v1/clock", .decide, Self.json, [])
        case .enrollments: ("GET", "/v1/enrollments", .look, Self.json, ["limit", "after"])
        case .enroll: ("POST", "/v1/enrollments", .decide, Self.json, [])
        case .unenroll: ("DELETE", "/v1/enrollments/{id}", .decide, Self.json, [])
        case .changePIN: ("POST", "/v1/enrollments/{id}/pin", .decide, Self.json, [])
        case .exportKey: ("GET", "/v1/enrollments/{id}/key", .own, Self.json, [])
        case .exportPublicKey: ("GET", "/v1/enrollments/{id}/public-key", .own, Self.json, [])
        case .rotatePush: ("POST", "/v1/push/rotate", .decide, Self.json, [])
        case .fetch: ("POST", "/v1/fetch", .decide, Self.json, [])
        case .requests: ("GET", "/v1/requests", .look, Self.json, ["all", "limit", "after", "before", "enrollment"])
        case .request: ("GET", "/v1/requests/{id}", .look, Self.json, ["enrollment"])
        case .evidence: ("GET", "/v1/requests/{id}/evidence", .look, Self.json, ["enrollment"])
        case .approve: ("POST", "/v1/requests/{id}/approve", .decide, Self.json, [])
        case .deny: ("POST", "/v1/requests/{id}/deny", .decide, Self.json, [])
        case .events: ("GET", "/v1/events", .look, "text/event-stream", ["since", "enrollment"])
        case .audit: ("GET", "/v1/audit", .look, "application/x-ndjson", ["after", "host", "limit"])
        case .auditHosts: ("GET", "/v1/audit/hosts", .look, Self.json, [])
        case .auditKey: ("GET", "/v1/audit/key", .look, Self.json, [])
        case .verifyAudit: ("GET", "/v1/audit/verify", .look, Self.json, [])
        case .personas: ("GET", "/v1/personas", .look, Self.json, [])
        case .setPersona: ("POST", "/v1/enrollments/{id}/persona", .decide, Self.json, [])
        case .clearPersona: ("DELETE", "/v1/enrollments/{id}/persona", .decide, Self.json, [])
        case .explanation: ("GET", "/v1/requests/{id}/explanation", .look, Self.json, ["enrollment"])
        case .explanations:
            ("GET", "/v1/explanations", .look, Self.json, ["all", "limit", "after", "before", "enrollment"])
        case .reloadRules: ("POST", "/v1/rules/reload", .decide, Self.json, [])
        case .fleet: ("GET", "/v1/fleet", .look, Self.json, ["seconds"])
        case .backup: ("GET", "/v1/backup", .decide, "application/vnd.sqlite3", [])
        }
    }
}
