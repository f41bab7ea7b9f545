import Records

/// What the journal says about the enrollments' signCounts.
///
/// A journal whose end was cut off together with its head, and an older head put in its place, is a whole one. But the
/// enrollments have counted on, and to set them back as well would be noticed by their issuers.
///
/// So many are known at a time as enrollments have signed: each takes 24 bytes, and as much again at most.
struct JournaledSignCounts: Sendable {
    fileprivate struct Told {
        let count: Int64
        /// Among ``hosts``.
        let host: Int
        /// Whether everything that other hosts may have written after it is there.
        let isFollowedWhole: Bool
    }

    private var counts = CompactNumbers<EnrollmentID>()
    private var hosts: [String] = []
    /// Behind which number each chain is followed.
    private let starts: [String: Int64]

    init(starts: [String: Int64] = [:]) { self.starts = starts }

    /// - Parameter moved: what it says, if it tells of a move.
    mutating func follow(_ entry: JournalEntry, at place: ChainPlace, moved: MovedRows? = nil) {
        for (id, row) in moved?.enrollments ?? [:] {
            if case .live(let count, _) = row { note(count, of: id, at: place) }
        }
        let count: Int64? =
            switch entry.kind {
            case .enrolled: 0
            case .decided: entry.number("signCount")
            case .signCountRaised: entry.number("to")
            default: nil
            }
        guard let count, let id = entry.enrollment else { return }
        note(count, of: id, at: place)
    }

    private mutating func note(_ count: Int64, of id: EnrollmentID, at place: ChainPlace) {
        let host = index(of: place.host)
        // A greater one came later, whatever chain it is in.
        if let known = counts[id].map({ Told($0) }), known.host != host, known.count >= count { return }
        let told = Told(count: count, host: host, isFollowedWhole: place.isFollowedWhole(behind: starts))
        counts[id] = told.number
    }

    private mutating func index(of host: String) -> Int {
        if let known = hosts.lastIndex(of: host) { return known }
        hosts.append(host)
        return hosts.count - 1
    }

    /// The first enrollment that has signed more often than the journal knows; a clause.
    ///
    /// One that the kept entries do not speak of cannot be held against them.
    func firstMissing(of enrollments: [Enrollment]) -> String? {
        for enrollment in enrollments {
            let signCount = Int64(enrollment.signCount)
            guard let told = counts[enrollment.id].map({ Told($0) }), told.count != signCount else { continue }
            // What another host has signed since may have been removed for its age.
            guard told.count > signCount || told.isFollowedWhole else { continue }
            return "enrollment \(enrollment.id) is at signCount \(signCount), the journal at \(told.count)"
        }
        return nil
    }
}

extension JournaledSignCounts.Told {
    /// The greatest number that is kept, which no signCount can be.
    private static let mostCount: Int64 = 1 << 40 - 1

    fileprivate init(_ number: UInt64) {
        self.init(
            count: Int64(number >> 17), host: Int(number >> 1 & 0xffff), isFollowedWhole: number & 1 == 1)
    }

    /// All of it, in one number.
    fileprivate var number: UInt64 {
        UInt64(min(max(count, 0), Self.mostCount)) << 17 | UInt64(host & 0xffff) << 1 | (isFollowedWhole ? 1 : 0)
    }
}
