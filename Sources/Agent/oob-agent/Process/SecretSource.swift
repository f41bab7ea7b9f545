import DurableFiles
import Keys
import Logging
import SQLiteBackup

/// Reads or makes the agent's secret.
enum SecretSource {
    /// Generates a secret without writing it to a file.
    static func generate() throws(StartError) -> AgentSecret {
        do {
            return try AgentSecret.generate()
        } catch {
            throw StartError(.osError, "the secret could not be made: \(error)")
        }
    }

    /// Writes a generated secret into the state directory.
    static func keep(_ secret: AgentSecret, _ settings: Settings, log: Logger) throws(StartError) {
        let path = file(settings)
        do throws(FileError) {
            try SecretFile.write(secret, to: path)
        } catch {
            throw StartError(.init(error.systemError), "the secret could not be made: \(error)")
        }
        log.warning(
            "a secret was made in the state directory; whoever copies the directory has keys and secret",
            metadata: ["path": "\(path)"])
    }

    /// The refusal of a start without the secret that sealed the data: a new secret could not unseal it.
    static func missing(beside database: String, _ settings: Settings) -> StartError {
        StartError(
            .config,
            "there is no secret \(file(settings)), and \(database) was made with one: put that one there, or name it "
                + "with --secret-file")
    }

    private static func file(_ settings: Settings) -> String { "\(settings.stateDirectory)/\(StateFiles.secret)" }

    /// Reads the named file or the file of an earlier start, and returns `nil` if there is none.
    static func find(_ settings: Settings) throws(StartError) -> AgentSecret? {
        if let path = settings.secretFile { return try read(path, privacy: settings.secretPrivacy) }
        do throws(StartError) {
            return try read(file(settings), privacy: .ownerOnly)
        } catch  where error.isMissing {
            return nil
        }
    }

    /// Reads the previous secret.
    ///
    /// `nil` if none is given.
    ///
    /// The systemd credential may be missing. A file named in the settings must exist.
    static func loadPrevious(_ settings: Settings) throws(StartError) -> AgentSecret? {
        if let path = settings.previousSecretFile { return try read(path, privacy: .ownerOnly) }
        guard let credentials = settings.credentials else { return nil }
        do throws(StartError) {
            return try read(credentials + "/previous-secret", privacy: .credential)
        } catch  where error.isMissing {
            return nil
        }
    }

    static var unchanged: StartError {
        StartError(
            .config,
            "the previous secret and the present one are the same: give the new one with --secret-file, or no "
                + "previous one")
    }

    private static func read(_ path: String, privacy: FilePrivacy) throws(StartError) -> AgentSecret {
        do {
            let limit = AgentSecret.bytes.upperBound
            return try AgentSecret(try SecretFile.read(path, maxBytes: limit, privacy: privacy))
        } catch let error as FileError where error.reason == .missing && privacy == .credential {
            throw StartError(
                .missing,
                "the secret \(path) is missing: put it where LoadCredential= of the unit looks for it, by default "
                    + "/etc/credstore/oob-agent.secret (oob-agent-NAME.secret for an instance)")
        } catch let error as FileError {
            let status = error.reason == .missing ? .missing : StartError.Status(error.systemError)
            throw StartError(status, "the secret \(error)")
        } catch {
            throw StartError(.config, "the secret \(path): \(error)")
        }
    }
}

extension AgentProcess {
    /// Writes a new secret into the state directory, unless a database exists there already.
    func keep(_ secret: AgentSecret) throws(StartError) {
        let directory = settings.stateDirectory
        guard !StateFiles.hasDatabase(directory) else {
            throw SecretSource.missing(beside: "the database \(directory)/\(StateFiles.database)", settings)
        }
        try SecretSource.keep(secret, settings, log: log)
    }

    /// The previous secret, or `nil` if no data must be sealed again under `secret`.
    func previousSecret(of secret: AgentSecret) throws(StartError) -> AgentSecret? {
        let previous = try SecretSource.loadPrevious(settings)
        guard previous != secret else { throw SecretSource.unchanged }
        return previous
    }
}

extension StartError {
    fileprivate var isMissing: Bool { status == .missing }
}

extension StartError.Status {
    /// EX_NOINPUT: a required file is missing.
    fileprivate static var missing: Self { .noInput }
}
