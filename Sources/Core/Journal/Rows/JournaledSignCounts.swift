import Records

/// The signCounts of the enrollments as the journal reports them.
///
/// If the end of a journal is cut off together with its head, and an older head is put in its place, the journal passes
/// verification. But the enrollments have counted on. If their rows are also set back, the issuers notice it.
///
/// Each enrollment that has signed takes 24 to 48 bytes of memory.
struct JournaledSignCounts: Sendable {
    fileprivate struct Told {
        let count: Int64
        /// Index in ``hosts``.
        let host: Int
        /// Whether all entries that other hosts may have written after it are available.
        let isFollowedWhole: Bool
    }

    private var counts = CompactNumbers<EnrollmentID>()
    private var hosts: [String] = []
    /// The number behind which each chain is read.
    private let starts: [String: Int64]

    init(starts: [String: Int64] = [:]) { self.starts = starts }

    /// - Parameter moved: the content of the entry, if it reports a move.
    mutating func follow(_ entry: JournalEntry, at place: ChainPlace, moved: MovedRows? = nil) {
        for (id, row) in moved?.enrollments ?? [:] {
            if case .live(let count, _) = row { record(count, of: id, at: place) }
        }
        let count: Int64? =
            switch entry.kind {
            case .enrolled: 0
            case .decided: entry.number("signCount")
            case .signCountRaised: entry.number("to")
            default: nil
            }
        guard let count, let id = entry.enrollment else { return }
        record(count, of: id, at: place)
    }

    private mutating func record(_ count: Int64, of id: EnrollmentID, at place: ChainPlace) {
        let host = index(of: place.host)
        // The greater signCount is the later one, in any chain.
        if let known = counts[id].map({ Told($0) }), known.host != host, known.count >= count { return }
        let told = Told(count: count, host: host, isFollowedWhole: place.isFollowedWhole(behind: starts))
        counts[id] = told.number
    }

    private mutating func index(of host: String) -> Int {
        if let known = hosts.lastIndex(of: host) { return known }
        hosts.append(host)
        return hosts.count - 1
    }

    /// Returns a clause about the first enrollment whose row and journal have different signCounts.
    ///
    /// If the kept entries do not mention an enrollment, it cannot be checked.
    func firstMissing(of enrollments: [Enrollment]) -> String? {
        for enrollment in enrollments {
            let signCount = Int64(enrollment.signCount)
            guard let told = counts[enrollment.id].map({ Told($0) }), told.count != signCount else { continue }
            // Entries of another host about later signatures may have been removed because of their age.
            guard told.count > signCount || told.isFollowedWhole else { continue }
            return "enrollment \(enrollment.id) is at signCount \(signCount), the journal at \(told.count)"
        }
        return nil
    }
}

extension JournaledSignCounts.Told {
    /// The greatest number that is kept; no signCount can be as high.
    private static let mostCount: Int64 = 1 << 40 - 1

    fileprivate init(_ number: UInt64) {
        self.init(
            count: Int64(number >> 17), host: Int(number >> 1 & 0xffff), isFollowedWhole: number & 1 == 1)
    }

    /// All fields, packed into one number.
    fileprivate var number: UInt64 {
        UInt64(min(max(count, 0), Self.mostCount)) << 17 | UInt64(host & 0xffff) << 1 | (isFollowedWhole ? 1 : 0)
    }
}
