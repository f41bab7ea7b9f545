internal import Glibc

/// Whether a client may speak to what stands at a socket path: codes and decisions go only to a socket of root's, of
/// the client's own user's, or of the user whom `OOB_AGENT_USER` names.
package enum SocketTrust {
    package static let defaultAgentUser = "oob-agent"

    /// What stands at a path, as far as trust goes.
    package struct Found: Sendable, Equatable {
        package let isSocket: Bool
        package let owner: UInt32

        package init(isSocket: Bool, owner: UInt32) {
            self.isSocket = isSocket
            self.owner = owner
        }
    }

    /// Whether anything stands at the path; a symbolic link is not followed.
    package static func exists(_ path: String) -> Bool {
        if case .success = look(at: path) { return true }
        return false
    }

    /// Refuses a path without a socket, or one that belongs to somebody else.
    package static func check(_ path: String, environment: [String: String]) throws(ClientError) {
        switch look(at: path) {
        case .failure(let error) where error.number == EACCES:
            throw .unreachable(
                "The socket \(path) may not be looked at by this user: ask who runs the agent for access.")
        case .failure:
            throw .nobodyListens(at: [path])
        case .success(let found):
            try check(found, at: path, ownUser: geteuid(), agentUser: agentUser(environment), id: userID)
        }
    }

    /// Refuses a connection to somebody else's process, whatever stood at the path when it was looked at.
    ///
    /// - Parameter listener: the user who listens, as the kernel says of the connection; nil if it does not.
    package static func check(
        listener: UInt32?, at path: String, environment: [String: String]
    ) throws(ClientError) {
        guard let listener else {
            throw .unreachable("The kernel does not say who listens on the socket \(path): nothing was sent.")
        }
        try check(
            Found(isSocket: true, owner: listener), at: path, ownUser: geteuid(), agentUser: agentUser(environment),
            id: userID)
    }

    /// The user who listens at the other end of a connection (`SO_PEERCRED` of unix(7)).
    static func listener(of socket: CInt) -> UInt32? {
        // `struct ucred`, which Glibc's module has not: pid, uid and gid, 32 bits each.
        var ucred: [UInt32] = [0, 0, 0]
        var size = socklen_t(ucred.count * MemoryLayout<UInt32>.size)
        guard unsafe getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &ucred, &size) == 0 else { return nil }
        return ucred[1]
    }

    private static func agentUser(_ environment: [String: String]) -> String {
        environment["OOB_AGENT_USER"].flatMap { $0.isEmpty ? nil : $0 } ?? defaultAgentUser
    }

    /// The rule itself.
    ///
    /// - Parameter id: looks a user up by name, nil if there is none; it is not asked if nothing depends on it, as it may
    ///   take the time of a directory service.
    package static func check(
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

    private static func userID(named name: String) -> UInt32? {
        guard let entry = unsafe getpwnam(name) else { return nil }
        return unsafe entry.pointee.pw_uid
    }
}

extension ClientError {
    static func nobodyListens(at paths: [String]) -> ClientError {
        .unreachable(
            "No agent listens at \(paths.joined(separator: " or ")): start oob-agent, or name its socket with --socket."
        )
    }
}
