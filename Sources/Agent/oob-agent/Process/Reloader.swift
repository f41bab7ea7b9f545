import AgentHost
import Authenticator
import IssuerLink
import LineLog
import LinuxProcess
import Logging
import PushReceiver

/// Reloads the settings on SIGHUP, and applies the reloadable ones.
struct Reloader: Sendable {
    /// The settings that a reload applies; every other setting needs a restart.
    private static let changeable: Set<Setting> = [
        .logLevel, .logFormat, .issuers, .personaTags, .clientCert, .clientKey, .proxy, .pushTLSCert, .pushTLSKey,
    ]

    /// The settings at the start of the agent.
    let started: Settings
    let tuning: LogTuning
    let gateway: HTTPIssuerGateway
    let pushServer: PushServer?
    let allowedIssuers: AllowedIssuers
    /// Passes the rules to the personas.
    let useRules: @Sendable (Settings) -> Void
    /// Requests a check of the control socket's file.
    let lookAtSocket: @Sendable () -> Void
    /// `nil` if no service manager started the agent.
    let manager: ServiceManager?
    let readiness: Readiness
    let last: LastReload
    let log: Logger

    /// Runs as long as requests come.
    func reload(_ requests: some AsyncSequence<some Any, Never>) async throws {
        for await _ in requests {
            notify([.reloading])
            lookAtSocket()
            let before = last.refusal
            last.set(reload())
            notify([.ready] + (last.news(after: before).map { [.status($0)] } ?? []))
        }
        try Task.checkCancellation()
    }

    /// Applies the settings, and returns the error in them; an invalid config changes no setting.
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
        // TLS on the push port is turned on or off only at a start.
        let isTLSTurned = (settings.push?.identity == nil) != (started.push?.identity == nil)
        return !Self.changeable.contains(setting) || (isTLSTurned && setting.isOfPushTLS)
    }

    private func notify(_ news: [ServiceManager.News]) {
        // The first READY=1 comes from the supervision: until then the manager must see the agent as starting.
        guard readiness.isTold else { return }
        do throws(SystemError) {
            try manager?.send(news)
        } catch {
            log.warning("the service manager could not be notified", metadata: ["reason": "\(error)"])
        }
    }
}

extension Setting {
    fileprivate var isOfPushTLS: Bool { self == .pushTLSCert || self == .pushTLSKey }
}
