import Authenticator
import Control
import HummingbirdCore
import TextAndTime

/// A query for the requests of a report.
struct FleetQuery {
    /// At most 400 days: the default retention of requests.
    static let range = 1...34_560_000
    static let usual = 86_400

    /// The age of the oldest request of the report.
    let seconds: Int

    init(_ uri: URI) throws(ControlError) {
        guard let text = uri.queryParameters["seconds"] else {
            seconds = Self.usual
            return
        }
        guard let number = Int(text), Self.range.contains(number) else {
            throw ControlError(
                .invalidArgument,
                "seconds: must be a whole number of \(Self.range.lowerBound) to \(Self.range.upperBound)")
        }
        seconds = number
    }
}

extension ControlCalls {
    func fleet(_ query: FleetQuery) async throws -> Answer {
        let cardholders = try cardholderControl()
        return try .json(FleetView(try await cardholders.fleet(since: agent.clock.now - Int64(query.seconds))))
    }
}

extension FleetView {
    fileprivate init(_ report: FleetReport) {
        let named = report.personas.filter { !$0.key.isEmpty }.sorted { $0.key < $1.key }
        var personas = named.map { FleetFiguresView($0.value, of: $0.key) }
        if let nobody = report.personas[""] { personas.append(FleetFiguresView(nobody, of: nil)) }
        self.init(
            since: UTCTime.text(report.since), cut: report.isCut, all: FleetFiguresView(report.all, of: nil),
            personas: personas)
    }
}

extension FleetFiguresView {
    fileprivate init(_ figures: FleetFigures, of persona: String?) {
        self.init(
            persona: persona, enrollments: figures.enrollments, requests: figures.requests, states: figures.states,
            delivery: figures.deliveries, transStatus: figures.transStatuses,
            latencySeconds: figures.latencies(at: [50, 90, 99, 100]).map {
                FleetLatencyView(p50: Int($0[0]), p90: Int($0[1]), p99: Int($0[2]), max: Int($0[3]))
            })
    }
}
