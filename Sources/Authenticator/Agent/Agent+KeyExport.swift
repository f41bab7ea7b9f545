import Logging

extension Agent {
    /// Gives out the key of an enrollment as it is stored: sealed under the agent's secret, and under its PIN if it has one.
    ///
    /// It revives nothing: the row's seal covers the key, so an older one that is put back is found.
    ///
    /// - Returns: once the journal has who asked for it, the enrollment; its sealed key is `nil` if the agent did not make
    ///   the key.
    /// - Throws: `CommandError` if the enrollment has ended, or its row is damaged.
    package func exportKey(of id: EnrollmentID, for peer: ControlPeer) async throws -> Enrollment {
        let clock = ports.clock
        let enrollment = try await ports.store.write { store in
            guard let enrollment = try store.enrollment(id), !enrollment.isOver else {
                throw CommandError(.notEnrolled, "the enrollment \(id) has ended, and its key is gone")
            }
            try enrollment.expectWhole()
            try store.record(.commanded(.exportKey, by: peer, about: id), at: clock.now)
            return enrollment
        }
        log.notice("commanded", metadata: peer.logged(["command": "\(JournaledCommand.exportKey)"]))
        return enrollment
    }
}
