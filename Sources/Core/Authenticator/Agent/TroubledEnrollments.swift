import Records
import StoreTables

/// The enrollments that the agent cannot serve.
struct TroubledEnrollments: Sendable, Equatable {
    /// Their ids, oldest first; only some of them if there are too many.
    var ids: [EnrollmentID]
    var count: Int
    /// The number of enrollments by cause, or `nil` if ``ids`` has all of them.
    var causes: [Trouble.Cause: Int]?
}

extension Agent {
    /// The limit for enrollments in trouble that the store is asked about.
    static let maxAsked = 1_000

    /// Finds the enrollments that the agent cannot serve.
    ///
    /// If an issuer with a million enrollments is down, all of them are in trouble. Then this uses the counts in
    /// memory, and asks the store only how many are suspended. Some enrollments that have ended since are counted too.
    func troubled(in store: StoreReading, asking most: Int = maxAsked) throws -> TroubledEnrollments {
        let failing = keyWatch.health.failing
        var causes = health.counts.merging([.key: failing.count], uniquingKeysWith: +)
        // A failing key is the cause, even if there are others.
        for id in failing {
            if let trouble = health.found(of: id) { causes[trouble.cause, default: 0] -= 1 }
        }
        let known = causes.values.reduce(0, +)
        let some = known > most ? Self.maxTroubles : most
        let ids = try EnrollmentHealth(store).troubled(
            among: Set(failing.prefix(some)).union(health.troubled(some)), limit: most + 1)
        guard known > most || ids.count > most else { return TroubledEnrollments(ids: ids, count: ids.count) }
        let tally = try EnrollmentHealth(store).tally()
        causes[.suspended, default: 0] += tally.suspended
        let all = tally.enrolling + tally.active + tally.suspended
        return TroubledEnrollments(ids: ids, count: min(known + tally.suspended, all), causes: causes)
    }

    /// Counts the enrollments in trouble, in all and by cause.
    func troubleCauses(in store: StoreReading) throws -> (count: Int, causes: [Trouble.Cause: Int]) {
        let troubled = try troubled(in: store)
        if let causes = troubled.causes { return (troubled.count, causes) }
        let troubles = try troubled.ids.compactMap { try store.enrollment($0) }.compactMap { trouble(with: $0) }
        return (troubles.count, Dictionary(troubles.map { ($0.cause, 1) }, uniquingKeysWith: +))
    }
}
