import Authenticator
import Control
import Keys
import Logging
import ThreeDS

/// All settings, checked: flag, environment variable, config member, default, in that order of strength.
struct Settings {
    enum LogFormat: String, CaseIterable {
        case text, json
    }

    let stateDirectory: String
    let socketPath: String
    /// A file that was named, or a credential of systemd's; nil: one is made.
    let secretFile: String?
    /// systemd hands credentials over with an owner and mode of its own.
    let secretPrivacy: FilePrivacy
    let logLevel: Logger.Level
    let logFormat: LogFormat
    let exponentPolicy: ExponentPolicy
    let maxUndecided: Int
    let allowTestAuthenticators: Bool

    init(flags: SettingFlags, environment: [String: String]) throws(StartError) {
        let path = flags.config ?? environment["OOB_AGENT_CONFIG"]
        let source = SettingSource(
            flags: flags, environment: environment,
            config: try path.map { path throws(StartError) in try ConfigFile(path: path) })
        stateDirectory = try source.stateDirectory()
        socketPath = try source.socketPath(stateDirectory: stateDirectory)
        let named = try source.path(.secretFile)
        secretFile = named ?? environment["CREDENTIALS_DIRECTORY"].map { $0 + "/secret" }
        secretPrivacy = named == nil && secretFile != nil ? .credential : .ownerOnly
        logLevel =
            try source.choice(
                .logLevel, allowed: ["debug", "info", "notice", "warning", "error"], Logger.Level.init(rawValue:))
            ?? .info
        logFormat =
            try source.choice(.logFormat, allowed: LogFormat.allCases.map(\.rawValue), LogFormat.init(rawValue:))
            ?? .text
        exponentPolicy =
            try source.choice(
                .exponentPolicy, allowed: ExponentPolicy.allCases.map(\.rawValue), ExponentPolicy.init(rawValue:))
            ?? .refuse
        maxUndecided = try source.integer(.maxUndecided, in: 1...100_000) ?? 1_000
        allowTestAuthenticators =
            try source.choice(.allowTestAuthenticators, allowed: ["true", "false"]) { $0 == "true" } ?? false
    }
}

/// Where the values of settings come from, and how they are read.
private struct SettingSource {
    let flags: SettingFlags
    let environment: [String: String]
    let config: ConfigFile?

    private struct Found {
        let value: String
        /// What names the place in a message.
        let place: String
        let status: StartError.Status
    }

    private func find(_ setting: Setting) -> Found? {
        if let value = flags.value(of: setting) {
            return Found(value: value, place: "--\(setting.rawValue)", status: .usage)
        }
        if let value = environment[setting.variable], !value.isEmpty {
            return Found(value: value, place: setting.variable, status: .config)
        }
        return config?.members[setting].map { Found(value: $0.value, place: $0.place, status: .config) }
    }

    func choice<Value>(
        _ setting: Setting, allowed: [String], _ make: (String) -> Value?
    ) throws(StartError) -> Value? {
        guard let found = find(setting) else { return nil }
        guard allowed.contains(found.value), let value = make(found.value) else {
            throw StartError(found.status, "\(found.place): must be one of \(allowed.joined(separator: ", "))")
        }
        return value
    }

    func integer(_ setting: Setting, in range: ClosedRange<Int>) throws(StartError) -> Int? {
        guard let found = find(setting) else { return nil }
        guard let number = Int(found.value), range.contains(number) else {
            throw StartError(
                found.status,
                "\(found.place): must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func path(_ setting: Setting) throws(StartError) -> String? {
        guard let found = find(setting) else { return nil }
        guard !found.value.isEmpty, !found.value.utf8.contains(0) else {
            throw StartError(found.status, "\(found.place): must be a path")
        }
        return found.value
    }

    func stateDirectory() throws(StartError) -> String {
        if let named = try path(.stateDir) { return named }
        guard let usual = ControlSocket.defaultStateDirectory(environment) else {
            throw StartError(.config, "there is no state directory: set --state-dir, or HOME")
        }
        return usual
    }

    func socketPath(stateDirectory: String) throws(StartError) -> String {
        let setting = try path(.socket)
        do throws(ControlError) {
            return try ControlSocket.listeningPath(
                setting: setting, stateDirectory: stateDirectory, environment: environment)
        } catch {
            throw StartError(.config, error.message)
        }
    }
}
