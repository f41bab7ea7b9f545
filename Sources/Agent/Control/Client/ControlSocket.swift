/// The paths of the agent's control socket.
package enum ControlSocket {
    package static let fileName = "control.sock"
    /// The maximum length of a path in bytes that SwiftNIO accepts on every system.
    ///
    /// Linux has room for 107 in `sockaddr_un` (unix(7)).
    package static let maxPathBytes = 103
    package static let systemDirectory = "/run/oob-agent"

    /// Returns the path where an agent listens: the path from its settings, else a path in its usual directory.
    package static func listeningPath(
        setting: String?, stateDirectory: String, environment: [String: String]
    ) throws(ControlError) -> String {
        try checked(setting ?? socketPath(in: runtimeDirectories(environment).first ?? stateDirectory))
    }

    /// Returns the directory in the user's session in which an agent listens.
    ///
    /// `nil` if it listens elsewhere.
    ///
    /// The agent creates the directory if it is missing: a login creates only the parent directory (XDG Base
    /// Directory).
    package static func sessionDirectory(setting: String?, environment: [String: String]) -> String? {
        guard setting == nil, environment.directory("RUNTIME_DIRECTORY") == nil else { return nil }
        return ownDirectory(inSession: environment)
    }

    /// Returns the path that a client uses: the named path, else the first usual path that exists.
    ///
    /// `nil` if no path exists. A named path must be valid for a socket. Usual paths that are too long are skipped.
    package static func path(
        flag: String?, environment: [String: String], exists: (String) -> Bool = SocketTrust.exists
    ) throws(ControlError) -> String? {
        if let named = named(flag, environment) { return exists(try checked(named)) ? named : nil }
        return usualPaths(environment).first { $0.utf8.count <= maxPathBytes && exists($0) }
    }

    /// Returns the paths that a client tries, in order.
    ///
    /// A flag or `OOB_AGENT_SOCKET` names the only path.
    package static func candidates(flag: String?, environment: [String: String]) -> [String] {
        named(flag, environment).map { [$0] } ?? usualPaths(environment)
    }

    private static func named(_ flag: String?, _ environment: [String: String]) -> String? {
        flag ?? environment.value("OOB_AGENT_SOCKET")
    }

    private static func usualPaths(_ environment: [String: String]) -> [String] {
        let state = environment.value("OOB_AGENT_STATE_DIR") ?? defaultStateDirectory(environment)
        var paths: [String] = []
        for directory in runtimeDirectories(environment) + [state, systemDirectory].compactMap(\.self) {
            let path = socketPath(in: directory)
            if !paths.contains(path) { paths.append(path) }
        }
        return paths
    }

    /// Refuses a path that is empty or too long for a Unix socket.
    package static func checked(_ path: String) throws(ControlError) -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw ControlError(.invalidArgument, "The socket path is empty or holds a zero byte: name a file.")
        }
        guard path.utf8.count <= maxPathBytes else {
            throw ControlError(
                .invalidArgument,
                "The socket path \(path) has \(path.utf8.count) bytes; at most \(maxPathBytes) are taken, which is "
                    + "SwiftNIO's bound (Linux has 107): choose a shorter one with --socket.")
        }
        return path
    }

    /// Returns the state directory if no flag names one: systemd's, else XDG's.
    package static func defaultStateDirectory(_ environment: [String: String]) -> String? {
        if let directory = environment.directory("STATE_DIRECTORY") { return directory }
        if let base = environment.directory("XDG_STATE_HOME") { return base + "/oob-agent" }
        return environment.directory("HOME").map { $0 + "/.local/state/oob-agent" }
    }

    private static func runtimeDirectories(_ environment: [String: String]) -> [String] {
        let systemd = environment.directory("RUNTIME_DIRECTORY")
        return [systemd, ownDirectory(inSession: environment)].compactMap(\.self)
    }

    private static func ownDirectory(inSession environment: [String: String]) -> String? {
        environment.directory("XDG_RUNTIME_DIR").map { $0 + "/oob-agent" }
    }

    private static func socketPath(in directory: String) -> String { directory + "/" + fileName }
}

extension [String: String] {
    /// Returns the value of a variable that is set and not empty.
    fileprivate func value(_ name: String) -> String? {
        self[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the first directory that a variable lists, if it is absolute.
    ///
    /// systemd.exec(5) separates directories with colons.
    fileprivate func directory(_ name: String) -> String? {
        let first = value(name).flatMap { $0.split(separator: ":").first }
        guard let first, first.hasPrefix("/") else { return nil }
        return first == "/" ? "" : String(first)
    }
}
