import LineLog
import SQLiteBackup

extension AgentProcess {
    /// Restores a backup into the state directory, and prints the next steps.
    ///
    /// Needs no secret and starts no agent.
    func restore(_ file: String) throws(StartError) {
        try claimStateDirectory()
        let directory = settings.stateDirectory
        do throws(RestoreError) {
            let state = try Restoration(of: file, into: directory).restore()
            StandardStream.error.write(
                """
                Restored into \(directory): the state as it was at \(state.createdAt).
                Next, give the agent the secret of that state (--secret-file), and start it. No other agent may run on \
                this state. The agent asks each issuer for the greatest signCount that it accepted, and goes above.
                """)
        } catch {
            throw StartError(error)
        }
    }
}

extension StartError {
    init(_ error: RestoreError) {
        let status: Status =
            switch error {
            case .unreadable: .noInput
            case .damaged, .newer, .otherSchema: .dataError
            case .occupied: .cannotCreate
            case .unwritable: .ioError
            case .failed: .software
            }
        self.init(status, "\(error)")
    }
}
