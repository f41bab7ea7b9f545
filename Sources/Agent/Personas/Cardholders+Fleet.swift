#if Personas
package import Authenticator
internal import IssuerProtocol
import Records
import StoreTables

extension Cardholders {
    /// The number of requests in one read of the store, so that no read takes long.
    private static let fleetPage = 10_000
    private static let personaPage = 1_000

    package func fleet(since time: Int64) async throws -> FleetReport {
        var report = FleetReport(since: time)
        let (first, isCut) = try await agent.store.read {
            try $0.firstRequest(since: time, sparing: FleetReport.maxRequests)
        }
        report.isCut = isCut
        var place: Int64? = first
        while let after = place {
            try Task.checkCancellation()
            let page = try await agent.store.read {
                try $0.requestTallies(after: after, since: time, limit: Self.fleetPage)
            }
            for tally in page.tallies {
                report.all.add(tally)
                report.personas[Self.persona(ofScript: tally.script), default: FleetFigures()].add(tally)
            }
            place = page.place
        }
        try await countEnrollments(&report)
        return report
    }

    private func countEnrollments(_ report: inout FleetReport) async throws {
        report.all.enrollments = try await agent.store.read { try $0.enrollmentCount() }
        var last: EnrollmentID?
        while true {
            let page = try await agent.store.read { [last] in
                try $0.personas(after: last, limit: Self.personaPage)
            }
            for row in page {
                guard let setting = PersonaSetting(document: row.document) else { continue }
                report.personas[setting.persona.rawValue, default: FleetFigures()].enrollments += 1
            }
            last = page.last?.enrollment
            if page.count < Self.personaPage { return }
        }
    }

    /// The persona's name, empty if no persona was to answer.
    private static func persona(ofScript document: String?) -> String {
        guard let script = document.flatMap(Script.init(document:)), script.source != .nobody else { return "" }
        return script.persona.rawValue
    }
}
#endif
