import AgentHost
import Authenticator
import IssuerLink
import LineLog
import LinuxProcess
import Logging
import PushReceiver

/// Reloads the settings on SIGHUP, and applies those that may change while the agent runs.
struct Reloader: Sendable {
    /// What a reload applies; every other setting waits for the next start.
    private static let changeable: Set<Setting> = [
        .logLevel, .logFormat, .issuers, .personaTags, .clientCert, .clientKey, .proxy, .pushTLSCert, .pushTLSKey,
    ]

    /// As the agent was started.
    let started: Settings
    let tuning: LogTuning
    let gateway: HTTPIssuerGateway
    let pushServer: PushServer?
    let allowedIssuers: AllowedIssuers
    /// Lets those who play cardholders use the rules.
    let useRules: @Sendable (Settings) -> Void
    /// Has the control socket's file looked at.
    let lookAtSocket: @Sendable () -> Void
    /// Nil if no service manager started the agent.
    let manager: ServiceManager?
    let readiness: Readiness
    let last: LastReload
    let log: Logger

    /// Works as long as requests come.
    func run(_ requests: some AsyncSequence<some Any, Never>) async throws {
        for await _ in requests {
            notify([.reloading])
            lookAtSocket()
            let before = last.refusal
            last.set(reload())
            notify([.ready] + (last.news(after: before).map { [.status($0)] } ?? []))
        }
        try Task.checkCancellation()
    }

    /// Applies the settings, and returns what is wrong with them; an invalid config changes nothing.
    private func reload() -> String? {
        do throws(StartError) {
            let settings = try started.again()
            tuning.set(LineFormat(settings.logFormat), settings.logLevel)
            gateway.use(settings.network)
            allowedIssuers.use(settings.issuers)
            useRules(settings)
            if let identity = settings.push?.identity { pushServer?.use(identity) }
            log.notice("the settings were reloaded")
            let waiting = Setting.allCases.filter { isWaiting($0, settings) }.map(\.rawValue)
            guard !waiting.isEmpty else { return nil }
            log.warning(
                "settings have changed that need a restart",
                metadata: ["settings": "\(waiting.joined(separator: ", "))"])
            return nil
        } catch {
            log.error("the settings were not reloaded", metadata: ["reason": "\(error.message)"])
            return error.message
        }
    }

    /// Whether a setting has changed but needs a restart.
    private func isWaiting(_ setting: Setting, _ settings: Settings) -> Bool {
        guard settings.found[setting] != started.found[setting] else { return false }
        // A receiver begins or stops to speak TLS at a start.
        let isTLSTurned = (settings.push?.identity == nil) != (started.push?.identity == nil)
        return !Self.changeable.contains(setting) || (isTLSTurned && setting.isOfPushTLS)
    }

    private func notify(_ news: [ServiceManager.News]) {
        // Whoever started the agent hears first from its supervision that it is ready: until then it is starting.
        guard readiness.isTold else { return }
        do throws(SystemError) {
            try manager?.tell(news)
        } catch {
            log.warning("the service manager could not be notified", metadata: ["reason": "\(error)"])
        }
    }
}

extension Setting {
    fileprivate var isOfPushTLS: Bool { self == .pushTLSCert || self == .pushTLSKey }
}
