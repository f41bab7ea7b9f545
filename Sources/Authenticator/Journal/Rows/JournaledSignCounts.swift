import StrictJSON

/// What the journal says about the enrollments' signCounts.
///
/// A journal whose end was cut off together with its head, and an older head put in its place, is a whole one. But the
/// enrollments have counted on, and to set them back as well would be noticed by their issuers.
struct JournaledSignCounts: Sendable {
    /// By enrollment.
    private var counts: [EnrollmentID: (count: Int64, place: ChainPlace)] = [:]

    mutating func follow(_ entry: JournalEntry, at place: ChainPlace) {
        for (id, row) in MovedRows(entry)?.enrollments ?? [:] {
            if case .live(let count, _) = row { note(count, of: id, at: place) }
        }
        let count: Int64? =
            switch entry.kind {
            case .enrolled: 0
            case .decided: entry.number("signCount")
            case .signCountRaised: entry.number("to")
            default: nil
            }
        guard let count, let id = entry.text("enrollment").flatMap(EnrollmentID.init) else { return }
        note(count, of: id, at: place)
    }

    private mutating func note(_ count: Int64, of id: EnrollmentID, at place: ChainPlace) {
        // A greater one came later, whatever chain it is in.
        if let known = counts[id], known.place.host != place.host, known.count >= count { return }
        counts[id] = (count, place)
    }

    /// The first enrollment that has signed more often than the journal knows; a clause.
    ///
    /// One that the kept entries do not speak of cannot be held against them.
    ///
    /// - Parameter starts: behind which number each chain is there.
    func firstMissing(of enrollments: [Enrollment], behind starts: [String: Int64]) -> String? {
        for enrollment in enrollments {
            guard let (count, place) = counts[enrollment.id], count != Int64(enrollment.signCount) else { continue }
            // What another host has signed since may have been removed for its age.
            guard count > Int64(enrollment.signCount) || place.isFollowedWhole(behind: starts) else { continue }
            return "enrollment \(enrollment.id) is at signCount \(enrollment.signCount), the journal at \(count)"
        }
        return nil
    }
}

extension JournalEntry {
    /// The text of one of its own members.
    func text(_ name: String) -> String? { try? json.optionalString(name) }

    /// The number of one of its own members.
    func number(_ name: String) -> Int64? { try? json.optionalInteger(name) }
}
