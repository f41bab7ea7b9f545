import AgentConfig
import Control
import ControlServer
import FoundationEssentials
import Glibc
import HTTPServing
import PushReceiver
import TextAndTime

/// Finds and reads the value of each setting: flag, environment variable, config member.
struct SettingSource {
    let flags: SettingFlags
    let environment: [String: String]
    let config: ConfigFile?

    /// Reads the config file, if one is named.
    init(flags: SettingFlags, environment: [String: String]) throws(StartError) {
        self.flags = flags
        self.environment = environment
        let path = flags.config ?? environment["OOB_AGENT_CONFIG"]
        config = try path.map { path throws(StartError) in try ConfigFile(path: path) }
    }

    /// The log format if some settings are invalid, from the sources that can be read.
    static func logFormat(_ flags: SettingFlags, _ environment: [String: String]) -> Settings.LogFormat {
        let source = try? SettingSource(flags: flags, environment: environment)
        let named = source?.find(.logFormat)?.value ?? flags.logFormat ?? environment[Setting.logFormat.variable]
        return named.flatMap(Settings.LogFormat.init) ?? .text
    }

    struct Found {
        let value: String
        /// The name of the place in a message.
        let place: String
        let status: StartError.Status
    }

    func find(_ setting: Setting) -> Found? {
        if let value = flags.value(of: setting) {
            return Found(value: value, place: "--\(setting.rawValue)", status: .usage)
        }
        if let value = environment[setting.variable], !value.isEmpty {
            return Found(value: value, place: setting.variable, status: .config)
        }
        return config?.members[setting.rawValue].map { Found(value: $0.value, place: $0.place, status: .config) }
    }

    /// Refuses an unknown variable with the prefix of settings, because it would be ignored silently.
    ///
    /// An empty variable counts as not set. Kubernetes sets `…_PORT…` and `…_SERVICE_…` for a service with the name
    /// oob-agent.
    func expectKnownVariables() throws(StartError) {
        let names = Setting.allCases.map(\.variable) + ["OOB_AGENT_CONFIG", "OOB_AGENT_USER"]
        let others = ["OOB_AGENT_PORT", "OOB_AGENT_SERVICE_"]
        let unknown = environment.filter { name, value in
            name.hasPrefix("OOB_AGENT_") && !value.isEmpty && !names.contains(name)
                && !others.contains(where: name.hasPrefix)
        }
        guard let name = unknown.keys.min() else { return }
        let advice = NearestName.advice(for: name, among: names, otherwise: Setting.advice)
        throw StartError(.config, "\(EscapedText.of(name)): no such setting; \(advice)")
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

    /// A setting that is a whole number, or its default.
    func number(_ setting: Setting) throws(StartError) -> Int {
        guard let (range, usual) = setting.number else {
            throw StartError(.software, "\(setting.rawValue) is not a number")
        }
        guard let found = find(setting) else { return usual }
        guard let number = Int(found.value), range.contains(number) else {
            throw StartError(
                found.status,
                "\(found.place): must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func path(_ setting: Setting) throws(StartError) -> String? {
        guard let found = find(setting) else { return nil }
        try checkPath(found)
        return found.value
    }

    /// Refuses an empty path, and a path that begins with ~, which only a shell expands.
    func checkPath(_ found: Found) throws(StartError) {
        guard !found.value.isEmpty, !found.value.utf8.contains(0) else {
            throw StartError(found.status, "\(found.place): must be a path")
        }
        guard !found.value.hasPrefix("~") else {
            throw StartError(
                found.status,
                "\(found.place): must be a path without ~, which only a shell expands: write it out, "
                    + "or ./~ for a name that begins with ~")
        }
    }

    func absolutePath(_ setting: Setting) throws(StartError) -> String? {
        guard let found = find(setting) else { return nil }
        guard found.value.hasPrefix("/"), !found.value.utf8.contains(0) else {
            throw StartError(found.status, "\(found.place): must be an absolute path")
        }
        return found.value
    }

    /// Reads visible ASCII characters, without spaces.
    func visibleText(_ setting: Setting, bytes: ClosedRange<Int>) throws(StartError) -> String? {
        guard let found = find(setting) else { return nil }
        guard bytes.contains(found.value.utf8.count), found.value.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw StartError(
                found.status,
                "\(found.place): must have \(bytes.lowerBound) to \(bytes.upperBound) visible ASCII characters")
        }
        return found.value
    }

    func stateDirectory() throws(StartError) -> String {
        if let named = try path(.stateDir) { return named }
        guard let usual = ControlSocket.defaultStateDirectory(environment) else {
            throw StartError(.config, "no state directory is known: set --state-dir, or HOME")
        }
        return usual
    }

    func socketPath(stateDirectory: String) throws(StartError) -> String {
        let setting = try path(.socket)
        do throws(ControlError) {
            return try ControlSocket.listeningPath(
                setting: setting, stateDirectory: stateDirectory, environment: environment)
        } catch {
            throw StartError(flags.socket == nil ? .config : .usage, error.message)
        }
    }

    /// Returns `nil` if the socket is not in the user's session directory.
    func sessionDirectory() throws(StartError) -> String? {
        ControlSocket.sessionDirectory(setting: try path(.socket), environment: environment)
    }
}

extension SettingSource {
    /// An address on loopback, or `nil` if the setting is not given.
    func loopbackAddress(_ setting: Setting) throws(StartError) -> ListenAddress? {
        guard let found = find(setting) else { return nil }
        guard let address = ListenAddress(found.value, hosts: .addresses), address.isLoopback else {
            throw StartError(
                found.status,
                "\(found.place): must be ADDRESS:PORT or [ADDRESS]:PORT on loopback: localhost, 127.0.0.1 or [::1]")
        }
        return address
    }
}

extension ConfigFile {
    /// Reads the file at `path`, and allows a member for each setting.
    init(path: String) throws(StartError) {
        // Foundation would expand ~, which no other path here allows.
        guard !path.hasPrefix("~") else {
            throw StartError(.config, "\(path): must be a path without ~, which only a shell expands: write it out")
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            // glibc keeps the text per thread (strerror(3)), and it is copied at once.
            let problem = unsafe access(path, R_OK) == 0 ? "must be a file" : String(cString: strerror(errno))
            throw StartError(.config, "\(path): \(problem): check the path of the config file")
        }
        do throws(ConfigError) {
            try self.init(
                [UInt8](data), path: path, names: Setting.allCases.map(\.rawValue),
                sequences: SettingSource.lists.map(\.rawValue), lists: [Self.rules], advice: Setting.advice)
        } catch {
            throw StartError(.config, error.message)
        }
    }
}
