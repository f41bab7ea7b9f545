import Records
import StoreTables

/// The enrollments for which the agent cannot do its work.
struct TroubledEnrollments: Sendable, Equatable {
    /// All of them, oldest first; if they are too many, some.
    var ids: [EnrollmentID]
    var count: Int
    /// How many there are by the cause; nil if ``ids`` are all.
    var causes: [Trouble.Cause: Int]?
}

extension Agent {
    /// The most enrollments in trouble that the store is asked about.
    static let maxAsked = 1_000

    /// The enrollments for which the agent cannot do its work.
    ///
    /// If an issuer with a million enrollments is down, all are: then what is known here has been counted, and the store is
    /// asked how many are suspended. Some that have ended since are counted too.
    func troubled(in store: StoreReading, asking most: Int = maxAsked) throws -> TroubledEnrollments {
        let failing = keyWatch.health.failing
        var causes = health.counts.merging([.key: failing.count], uniquingKeysWith: +)
        // A key that fails is the cause, whatever else there is.
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

    /// How many enrollments are in trouble, by the cause.
    func troubleCauses(in store: StoreReading) throws -> (count: Int, causes: [Trouble.Cause: Int]) {
        let troubled = try troubled(in: store)
        if let causes = troubled.causes { return (troubled.count, causes) }
        let troubles = try troubled.ids.compactMap { try store.enrollment($0) }.compactMap { trouble(with: $0) }
        return (troubles.count, Dictionary(troubles.map { ($0.cause, 1) }, uniquingKeysWith: +))
    }
}
