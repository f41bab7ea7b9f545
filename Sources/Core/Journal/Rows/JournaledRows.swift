import Records

/// Compares the rows with the statements of the chains about them.
struct JournaledRows: Sendable {
    private var signCounts: JournaledSignCounts
    private var enrolled = JournaledEnrollments()
    private var pinTries = JournaledPINTries()
    private var faults = Faults()

    /// The first fault of each kind, in the order in which the kinds are reported.
    private struct Faults {
        var signCount: JournalError?
        var row: JournalError?
        var tries: JournalError?
        var keyTries: JournalError?
    }

    /// - Parameter starts: the number behind which each chain is read.
    init(starts: [String: Int64]) {
        signCounts = JournaledSignCounts(starts: starts)
        for (host, start) in starts { pinTries.begin(host, behind: start) }
    }

    /// - Parameter live: the enrollments that the entry reports as made or ended, and that have not ended.
    mutating func follow(_ entry: JournalEntry, at place: ChainPlace, live: [EnrollmentID: Enrollment]) throws {
        let moved = MovedRows(entry)
        signCounts.follow(entry, at: place, moved: moved)
        try enrolled.follow(entry, of: place.host, moved: moved, live: live)
        pinTries.follow(entry, at: place, moved: moved)
    }

    /// Compares some rows with the statements of the chains up to the moment when the rows were read.
    ///
    /// - Parameter head: the head of this host's chain.
    mutating func compare(_ enrollments: [Enrollment], head: JournalPoint) {
        let behind = head.sequence + 1
        if faults.signCount == nil, let missing = signCounts.firstMissing(of: enrollments) {
            faults.signCount = JournalError(sequence: behind, problem: "is missing: \(missing)")
        }
        if faults.row == nil, let damaged = enrollments.first(where: { !$0.isOver && $0.isDamaged }) {
            faults.row = JournalError(sequence: head.sequence, problem: JournaledEnrollments.damaged(damaged))
        }
        if faults.row == nil, let old = enrollments.first(where: pinTries.isOlder) {
            faults.row = JournalError(
                sequence: head.sequence,
                problem: "does not vouch for enrollment \(old.id): its row is older than the last change of its PIN")
        }
        if faults.tries == nil, let old = enrollments.first(where: { pinTries.missing(in: $0) != nil }) {
            faults.tries = JournalError(
                sequence: behind, problem: "is missing: enrollment \(old.id) had more wrong PINs than its row says")
        }
    }

    /// Compares the wrong-PIN counts of all keys that the agent did not make.
    mutating func compare(_ tries: [KeyIdentity: PINTries], head: JournalPoint) {
        if let old = pinTries.missing(in: tries).keys.first {
            faults.keyTries = JournalError(
                sequence: head.sequence + 1,
                problem: "is missing: \(PINTries.Subject(old).name) had more wrong PINs than its row says")
        } else if let changed = tries.first(where: { $0.value == .unknown })?.key {
            faults.keyTries = JournalError(
                sequence: head.sequence,
                problem:
                    "does not vouch for the wrong PINs of \(PINTries.Subject(changed).name): their row is not as the "
                    + "agent wrote it")
        }
    }

    /// Returns the contradiction between rows and journal, or `nil` if they agree.
    ///
    /// - Parameter all: whether all faults count. Otherwise only contradictions of signCounts count, because one bad
    ///   row does not affect a request.
    func firstFault(all: Bool) -> JournalError? {
        guard all else { return faults.signCount }
        return faults.signCount ?? enrolled.fault ?? faults.row ?? faults.tries ?? faults.keyTries
    }
}
