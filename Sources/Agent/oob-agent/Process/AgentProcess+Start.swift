import AgentHost
import Authenticator
import LinuxProcess
import Logging
import SQLiteBackup

extension AgentProcess {
    /// Refuses a state of the old form with a file for each key: no new state may be made beside such keys.
    func expectNoKeyFiles() throws(StartError) {
        guard isStateHere, StateFiles.hasKeyFilesAlone(settings.stateDirectory) else { return }
        throw StartError(
            .config,
            "the state directory \(settings.stateDirectory) has keys in files (keys) and no database: it was made by an "
                + "unreleased version of the agent; it stays as it is; give this version an empty one, and enroll anew")
    }

    /// Sends the service manager the first status.
    func notifyStart() {
        warningIfUnsent { () throws(SystemError) in try ProcessEnvironment.serviceManager?.send([.status("Starting")]) }
    }

    /// Reports the progress of the start to the service manager.
    func notify(_ step: StartStep) {
        warningIfUnsent { () throws(SystemError) in
            guard let patience = step.patience else {
                try ProcessEnvironment.serviceManager?.send([.status(step.text)])
                return
            }
            try startNews.report(step.text, patience: patience)
        }
    }

    /// Handles a step of the start: the agent is ready only when a key can be used.
    func handle(_ step: StartStep, readiness: Readiness) {
        if step == .keyUsable { readiness.has(.keys) }
        if !readiness.isWhole { notify(step) }
    }

    private func warningIfUnsent(_ send: () throws(SystemError) -> Void) {
        do throws(SystemError) {
            try send()
        } catch {
            log.warning("the service manager could not be notified", metadata: ["reason": "\(error)"])
        }
    }
}
