extension Enrollment {
    /// What is wrong with a damaged one, and what to do.
    var damage: String {
        "the row of enrollment \(id) in the database is not as the agent wrote it: nothing of it is used; find out who "
            + "writes to the database, and restore a backup (or end it: oobctl unenroll \(id) --local --force)"
    }

    /// Throws `CommandFailure` if its row is not as the agent wrote it.
    func expectWhole(for request: RequestRecord? = nil) throws {
        guard isDamaged else { return }
        throw CommandFailure(.keyUnavailable, damage, request: request)
    }
}
