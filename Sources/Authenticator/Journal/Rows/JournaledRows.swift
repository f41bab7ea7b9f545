/// What the chains say about rows, held against the rows.
struct JournaledRows: Sendable {
    private var signCounts = JournaledSignCounts()
    private var enrolled = JournaledEnrollments()
    private var pinTries = JournaledPINTries()

    mutating func follow(_ entry: JournalEntry, at place: ChainPlace) {
        signCounts.follow(entry, at: place)
        enrolled.follow(entry, of: place.host)
        pinTries.follow(entry, at: place)
    }

    /// A chain has been followed to its end; what is before `start` was removed for its age.
    mutating func end(_ host: String, behind start: Int64) { pinTries.begin(host, behind: start) }

    /// What rows say that the journal does not, or the other way round; nil if they agree.
    ///
    /// - Parameters:
    ///   - rows: as of the moment at which the chains ended.
    ///   - head: where the chain of the host ends that is asked.
    ///   - all: whether everything is held; else only what was signed, as one bad row says nothing about a request.
    func firstFault(of rows: RowsOfMoment, head: JournalPoint, all: Bool) throws -> JournalError? {
        let behind = head.sequence + 1
        if let missing = signCounts.firstMissing(of: rows.enrollments, behind: pinTries.starts) {
            return JournalError(sequence: behind, problem: "is missing: \(missing)")
        }
        guard all else { return nil }
        if let found = try enrolled.firstFault(of: rows.enrollments, head: head) { return found }
        if let old = rows.enrollments.first(where: { pinTries.missing(in: $0) != nil }) {
            return JournalError(
                sequence: behind, problem: "is missing: enrollment \(old.id) had more wrong PINs than its row says")
        }
        if let old = pinTries.missing(in: rows.keyTries).keys.first {
            return JournalError(
                sequence: behind,
                problem: "is missing: \(PINCounter(old).name) had more wrong PINs than its row says")
        }
        guard let changed = rows.keyTries.first(where: { $0.value == .unknown })?.key else { return nil }
        return JournalError(
            sequence: head.sequence,
            problem:
                "does not vouch for the wrong PINs of \(PINCounter(changed).name): their row is not as the "
                + "agent wrote it")
    }
}

/// The rows that chains are held against.
struct RowsOfMoment: Sendable {
    let enrollments: [Enrollment]
    let keyTries: [KeyIdentity: PINTries]
}
