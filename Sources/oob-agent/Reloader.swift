import LinuxProcess
import Logging
import PushReceiver

/// Reads the settings anew where it is asked to (SIGHUP), and takes over those that may change while the agent runs.
struct Reloader: Sendable {
    /// What a reload takes over; all else waits for the next start.
    private static let changeable: Set<Setting> = [.logLevel, .logFormat, .pushTLSCert, .pushTLSKey]

    /// As the agent was started.
    let started: Settings
    let tuning: LogTuning
    let pushServer: PushServer?
    /// Nil where nobody wants to know.
    let manager: ServiceManager?
    let readiness: Readiness
    let log: Logger

    /// Works as long as requests come.
    func run(_ requests: some AsyncSequence<some Any, Never>) async throws {
        for await _ in requests {
            tell(.reloading)
            reload()
            tell(.ready)
        }
        try Task.checkCancellation()
    }

    /// A config that is not in order changes nothing.
    private func reload() {
        do throws(StartError) {
            let settings = try started.again()
            tuning.set(settings)
            if let identity = settings.push?.identity { pushServer?.use(identity) }
            log.notice("the settings were read anew")
            let waiting = Setting.allCases.filter { isWaiting($0, settings) }.map(\.rawValue)
            guard !waiting.isEmpty else { return }
            log.warning(
                "settings have changed that need a restart",
                metadata: ["settings": "\(waiting.joined(separator: ", "))"])
        } catch {
            log.error("the settings stay as they were", metadata: ["reason": "\(error.message)"])
        }
    }

    /// Whether a setting has changed, and is as it was all the same.
    private func isWaiting(_ setting: Setting, _ settings: Settings) -> Bool {
        guard settings.found[setting] != started.found[setting] else { return false }
        // A receiver begins or stops to speak TLS at a start.
        let isTLSTurned = (settings.push?.identity == nil) != (started.push?.identity == nil)
        return !Self.changeable.contains(setting) || (isTLSTurned && setting.isOfPushTLS)
    }

    private func tell(_ news: ServiceManager.News) {
        // Before the agent is ready nothing of it can be reloaded: it is still starting.
        guard readiness.isWhole else { return }
        do throws(SystemError) {
            try manager?.tell([news])
        } catch {
            log.warning("the service manager could not be told", metadata: ["reason": "\(error)"])
        }
    }
}

extension Setting {
    fileprivate var isOfPushTLS: Bool { self == .pushTLSCert || self == .pushTLSKey }
}
