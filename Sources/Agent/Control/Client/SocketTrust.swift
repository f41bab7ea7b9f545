internal import Glibc
internal import LinuxProcess

/// The rule that says which control sockets a client trusts.
///
/// Codes and decisions go only to a socket that belongs to root, to the client's own user, or to the user whom
/// `OOB_AGENT_USER` names, by name or number.
package enum SocketTrust {
    package static let defaultAgentUser = "oob-agent"

    /// The properties of a file that the rule checks.
    package struct Found: Sendable, Equatable {
        package let isSocket: Bool
        package let owner: UInt32

        package init(isSocket: Bool, owner: UInt32) {
            self.isSocket = isSocket
            self.owner = owner
        }
    }

    /// Returns whether a file exists at the path.
    ///
    /// A symbolic link is not followed.
    package static func exists(_ path: String) -> Bool {
        if case .success = look(at: path) { return true }
        return false
    }

    /// Refuses a path without a socket, and a socket of an untrusted user.
    package static func expectTrusted(_ path: String, environment: [String: String]) throws(ClientError) {
        switch look(at: path) {
        case .failure(let error) where error.number == EACCES:
            throw .unreachable(
                "The socket \(path) may not be looked at by this user: ask who runs the agent for access.")
        case .failure:
            throw .nobodyListens(at: [path])
        case .success(let found):
            try expectTrusted(found, at: path, ownUser: geteuid(), agentUser: agentUser(environment), id: Accounts.user)
        }
    }

    /// Refuses a connection to a process of an untrusted user, even if the earlier check of the file passed.
    ///
    /// - Parameter listener: the user id of the listener, which the kernel reports for the connection. `nil` if it
    ///   reports none.
    package static func expectTrusted(
        listener: UInt32?, at path: String, environment: [String: String]
    ) throws(ClientError) {
        guard let listener else {
            throw .unreachable("The kernel does not say who listens on the socket \(path): nothing was sent.")
        }
        try expectTrusted(
            Found(isSocket: true, owner: listener), at: path, ownUser: geteuid(), agentUser: agentUser(environment),
            id: Accounts.user)
    }

    /// Returns the user id of the listener at the other end of a connection (`SO_PEERCRED` of unix(7)).
    static func listener(of socket: CInt) -> UInt32? {
        // `struct ucred`, which Glibc's module does not have: pid, uid and gid, 32 bits each.
        var ucred: [UInt32] = [0, 0, 0]
        var size = socklen_t(ucred.count * MemoryLayout<UInt32>.size)
        guard unsafe getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &ucred, &size) == 0 else { return nil }
        return ucred[1]
    }

    private static func agentUser(_ environment: [String: String]) -> String {
        environment["OOB_AGENT_USER"].flatMap { $0.isEmpty ? nil : $0 } ?? defaultAgentUser
    }

    /// Applies the rule.
    ///
    /// - Parameter id: returns a user's id by name or number, or `nil` if the text is neither. It is called only if the
    ///   result depends on it, because it may wait for a directory service.
    package static func expectTrusted(
        _ found: Found, at path: String, ownUser: UInt32, agentUser: String, id: (String) -> UInt32?
    ) throws(ClientError) {
        guard found.isSocket else { throw .unreachable("\(path) is not a socket: name the agent's with --socket.") }
        guard found.owner != 0, found.owner != ownUser, found.owner != id(agentUser) else { return }
        throw .unreachable(
            "The socket \(path) belongs to user id \(found.owner), not to root, to you, or to \(agentUser): "
                + "nothing was sent. If the agent runs as another user, name it in OOB_AGENT_USER.")
    }

    private struct LookError: Error { let number: Int32 }

    private static func look(at path: String) -> Result<Found, LookError> {
        var info = stat()
        guard unsafe lstat(path, &info) == 0 else { return .failure(LookError(number: errno)) }
        return .success(Found(isSocket: info.st_mode & S_IFMT == S_IFSOCK, owner: info.st_uid))
    }
}

extension ClientError {
    static func nobodyListens(at paths: [String]) -> ClientError {
        .unreachable(
            "No agent listens at \(paths.joined(separator: " or ")): start oob-agent, or name its socket with --socket."
        )
    }
}
