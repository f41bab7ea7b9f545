import AgentHost
import Authenticator
import Custody
import DurableFiles
import IssuerLink
import Keys
import LineLog
import Records
import SQLiteBackup
import SQLiteStore
import Versioning

extension AgentProcess {
    /// The file in which this host records its head.
    var headFile: HeadFile { HeadFile("\(settings.stateDirectory)/\(StateFiles.head)") }

    /// A doubt that only a person can resolve.
    enum Accepted {
        /// The agent cannot know whether the database is the newest.
        case head
        /// The clock differs from the proven time.
        case clock
    }

    /// Accepts the database or the clock, and records that in the journal.
    ///
    /// Does not start the agent.
    ///
    /// - Parameter scratch: the place of the database's temporary files.
    func accept(_ accepted: Accepted, _ scratch: Scratch) async throws {
        try claimStateDirectory()
        try tidyStateDirectory()
        let gateway = HTTPIssuerGateway(
            version: SoftwareVersion.text, network: settings.network, clock: SystemClock(), bounds: answerBounds)
        do {
            let (agent, opened, _) = try await agent(gateway, scratch, isToStay: false)
            defer { close(opened) }
            try await opened.perform {
                let doubt = try await refusing(opened) {
                    switch accepted {
                    case .head: try await agent.acceptHead()
                    case .clock: try await agent.acceptClock()
                    }
                }
                StandardStream.error.write(Self.accepted(doubt))
            }
        } catch {
            await gateway.shutdown()
            throw error
        }
        await gateway.shutdown()
    }

    /// Runs the first check of the state.
    ///
    /// Maps its errors to the settings that do not fit the state.
    ///
    /// - Parameter opened: on such an error, a change of the secret that has begun is abandoned, unless a host has got
    ///   further.
    func refusing<Value>(_ opened: OpenedStore, _ work: () async throws -> Value) async throws -> Value {
        let refusal: StartError
        do {
            return try await work()
        } catch is SealError {
            throw StartError(
                .config, "the secret is not the one that this state was made with: give that one (--secret-file)")
        } catch let failure as FileError {
            refusal = StartError(StartError.Status(failure.systemError), "the head of the journal: \(failure)")
        } catch {
            guard error is ClockError || error is ForeignHeadError || error is RotationError else { throw error }
            refusal = StartError(.config, "\(error)")
        }
        try await opened.abandonSecretChange()
        throw refusal
    }

    private static func accepted(_ doubt: String?) -> String {
        guard let doubt else { return "There was nothing to accept: the agent starts as it is.\n" }
        return """
            Accepted, and written down in the journal. What was in doubt: \(doubt).
            Next, start the agent.

            """
    }
}
