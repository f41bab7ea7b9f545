import Records

/// What the chains say about rows, held against the rows.
struct JournaledRows: Sendable {
    private var signCounts: JournaledSignCounts
    private var enrolled = JournaledEnrollments()
    private var pinTries = JournaledPINTries()
    private var faults = Faults()

    /// The first of each kind, in the order in which they are told.
    private struct Faults {
        var signCount: JournalError?
        var row: JournalError?
        var tries: JournalError?
        var keyTries: JournalError?
    }

    /// - Parameter starts: behind which number each chain is followed.
    init(starts: [String: Int64]) {
        signCounts = JournaledSignCounts(starts: starts)
        for (host, start) in starts { pinTries.begin(host, behind: start) }
    }

    /// - Parameter live: the enrollments that the entry says are made or ended, and that are not over.
    mutating func follow(_ entry: JournalEntry, at place: ChainPlace, live: [EnrollmentID: Enrollment]) throws {
        let moved = MovedRows(entry)
        signCounts.follow(entry, at: place, moved: moved)
        try enrolled.follow(entry, of: place.host, moved: moved, live: live)
        pinTries.follow(entry, at: place, moved: moved)
    }

    /// Holds some rows against what the chains have said up to the moment at which those were read.
    ///
    /// - Parameter head: where the chain of the host ended that is asked.
    mutating func hold(_ enrollments: [Enrollment], head: JournalPoint) {
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

    /// The same of the wrong PINs of all keys that the agent did not make.
    mutating func hold(_ tries: [KeyIdentity: PINTries], head: JournalPoint) {
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

    /// The contradiction between rows and journal; nil if they agree.
    ///
    /// - Parameter all: whether everything counts; else only what was signed, as one bad row says nothing about a request.
    func firstFault(all: Bool) -> JournalError? {
        guard all else { return faults.signCount }
        return faults.signCount ?? enrolled.fault ?? faults.row ?? faults.tries ?? faults.keyTries
    }
}
