/// The right of a peer of the control socket; each right includes the rights before it.
package enum ControlRight: Comparable, Sendable {
    case nothing
    /// Read access.
    case look
    /// All calls except the export of a key.
    case decide
    /// All calls: for root and the agent's own user, who can read its files anyway.
    case own
}

/// The users of the control socket, and their rights.
package struct ControlAccess: Sendable, Equatable {
    /// Users and groups, by their numeric ids.
    package struct Named: Sendable, Equatable {
        package var users: Set<UInt32>
        package var groups: Set<UInt32>

        package init(users: Set<UInt32> = [], groups: Set<UInt32> = []) {
            self.users = users
            self.groups = groups
        }

        fileprivate func has(_ peer: PeerCredentials) -> Bool {
            users.contains(peer.uid) || !groups.isDisjoint(with: peer.groups)
        }
    }

    /// The socket's group, or `nil` if only the owner may use the socket.
    package var group: UInt32?
    /// The users with the right to read, or `nil` for the members of the socket's group.
    package var mayLook: Named?
    /// The users with the right to decide, or `nil` for the members of the socket's group.
    package var mayDecide: Named?

    package init(group: UInt32? = nil, mayLook: Named? = nil, mayDecide: Named? = nil) {
        self.group = group
        self.mayLook = mayLook
        self.mayDecide = mayDecide
    }

    /// - Parameter owner: the agent's own user.
    package func right(of peer: PeerCredentials, owner: UInt32) -> ControlRight {
        let usual = Named(groups: group.map { [$0] } ?? [])
        if peer.uid == 0 || peer.uid == owner { return .own }
        if (mayDecide ?? usual).has(peer) { return .decide }
        return (mayLook ?? usual).has(peer) ? .look : .nothing
    }
}

/// The peer's credentials (SO_PEERCRED, SO_PEERGROUPS).
package struct PeerCredentials: Sendable, Equatable {
    package let uid: UInt32
    package let gid: UInt32
    package let pid: Int32
    /// The groups of the process when it connected, including `gid`.
    package let groups: Set<UInt32>

    package init(uid: UInt32, gid: UInt32, pid: Int32, supplementary: [UInt32] = []) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        groups = Set(supplementary + [gid])
    }
}
