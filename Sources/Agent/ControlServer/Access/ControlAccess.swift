/// What a peer of the control socket may do; each includes what stands before it.
package enum ControlRight: Comparable, Sendable {
    case nothing
    /// Whatever changes nothing.
    case look
    /// All but what gives a key out.
    case decide
    /// All of it: root and the agent's own user, who have its files.
    case own
}

/// Who may use the control socket, and for what.
package struct ControlAccess: Sendable, Equatable {
    /// Users and groups, by their numbers.
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

    /// The socket's group; nil: the socket is its owner's alone.
    package var group: UInt32?
    /// Nil: whoever is of the socket's group.
    package var mayLook: Named?
    /// Nil: whoever is of the socket's group.
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

/// Who connected, as the kernel says.
package struct PeerCredentials: Sendable, Equatable {
    package let uid: UInt32
    package let gid: UInt32
    package let pid: Int32
    /// The groups that its process had when it connected, `gid` among them.
    package let groups: Set<UInt32>

    package init(uid: UInt32, gid: UInt32, pid: Int32, supplementary: [UInt32] = []) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        groups = Set(supplementary + [gid])
    }
}
