/// What the journal says about tries of the PINs of keys that the agent made: a row that says less was put back from an
/// older copy.
struct JournaledPINTries: Sendable {
    private var failures: [EnrollmentID: Int64] = [:]

    mutating func follow(_ entry: JournalEntry) {
        // Before that a right PIN was not always an entry.
        if entry.kind == .rowsSealed { failures = [:] }
        guard let id = entry.text("enrollment").flatMap(EnrollmentID.init) else { return }
        switch entry.kind {
        case .notVerified: failures[id] = entry.number("failures")
        case .verified, .pinChanged: failures[id] = nil
        case .decided where entry.text("verified") != nil: failures[id] = nil
        default: break
        }
    }

    /// How many more tries an enrollment has had than its row says; nil if the row says as many, or more.
    func missing(in enrollment: Enrollment) -> Int? {
        guard !enrollment.isOver, enrollment.key == .own, let known = failures[enrollment.id],
            known > Int64(enrollment.pinTries.failures),
            let count = Int(exactly: known)
        else { return nil }
        return count
    }
}
