import DurableFiles
import Keys
import Logging

/// Reads or makes the agent's secret.
enum SecretSource {
    /// Reads the named file, or the one that an earlier start made; else makes one.
    static func load(_ settings: Settings, log: Logger) throws(StartError) -> AgentSecret {
        if let path = settings.secretFile { return try read(path, privacy: settings.secretPrivacy) }
        let path = settings.stateDirectory + "/secret"
        do throws(StartError) {
            return try read(path, privacy: .ownerOnly)
        } catch  where error.isMissing {
            let secret = try make(path)
            log.warning(
                "a secret was made in the state directory; whoever copies the directory has keys and secret",
                metadata: ["path": "\(path)"])
            return secret
        }
    }

    /// Reads the secret as a start would, but makes nothing; nil if a start would make one.
    static func find(_ settings: Settings) throws(StartError) -> AgentSecret? {
        if let path = settings.secretFile { return try read(path, privacy: settings.secretPrivacy) }
        do throws(StartError) {
            return try read(settings.stateDirectory + "/secret", privacy: .ownerOnly)
        } catch  where error.isMissing {
            return nil
        }
    }

    /// Reads the previous secret; nil if none is given.
    ///
    /// A credential of that name need not be there, a file that was named must be.
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

    private static func make(_ path: String) throws(StartError) -> AgentSecret {
        do {
            let secret = try Secret.random(32)
            try SecretFile.write(secret, to: path)
            return try AgentSecret(secret)
        } catch {
            let status: StartError.Status = (error as? FileError).map { .init($0.systemError) } ?? .osError
            throw StartError(status, "the secret could not be made: \(error)")
        }
    }
}

extension AgentProcess {
    /// The previous secret, if what it encrypts must now be encrypted under `secret`; else nil.
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
    /// EX_NOINPUT: a file that is needed is not there.
    fileprivate static var missing: Self { .noInput }
}
