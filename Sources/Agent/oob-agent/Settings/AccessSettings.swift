import ControlServer
import Glibc
import LinuxProcess

extension ControlAccess {
    init(_ source: SettingSource) throws(StartError) {
        let group = try source.socketGroup()
        let (mayLook, mayDecide) = (try source.named(.mayLook), try source.named(.mayDecide))
        if group == nil, let alone = source.find(.mayLook) ?? source.find(.mayDecide) {
            throw StartError(
                alone.status, "\(alone.place): goes with socket-group: without it nobody else can use the socket")
        }
        self.init(group: group, mayLook: mayLook, mayDecide: mayDecide)
    }
}

extension SettingSource {
    /// The group id for the socket; chown(2) allows only a group of the agent's user.
    fileprivate func socketGroup() throws(StartError) -> UInt32? {
        guard let found = find(.socketGroup) else { return nil }
        guard let group = Accounts.group(found.value) else {
            throw Self.unknown("group", named: found.value, in: found)
        }
        guard geteuid() == 0 || Accounts.ownGroups.contains(group) else {
            throw StartError(
                found.status, "\(found.place): the agent's user is not of this group: add it, or name one of its groups"
            )
        }
        guard group == getegid() || Accounts.mayChangeGroups else {
            throw StartError(
                found.status,
                "\(found.place): this process may give its socket only to its own group: set Group= in a drop-in of "
                    + "the unit")
        }
        return group
    }

    /// The users and groups of a list: separated by commas, a group with the prefix `group:`.
    fileprivate func named(_ setting: Setting) throws(StartError) -> ControlAccess.Named? {
        guard let found = find(setting) else { return nil }
        let names = try Self.entries(of: found, "names: put these users into a group and name that")
        var named = ControlAccess.Named()
        for name in names {
            guard !name.isEmpty else {
                throw StartError(
                    found.status, "\(found.place): must be users and groups, such as \"alice, group:auditors\"")
            }
            if name.hasPrefix("group:") {
                let name = String(name.dropFirst("group:".count))
                guard let group = Accounts.group(name) else { throw Self.unknown("group", named: name, in: found) }
                named.groups.insert(group)
            } else {
                guard let user = Accounts.user(name) else { throw Self.unknown("user", named: name, in: found) }
                named.users.insert(user)
            }
        }
        return named
    }

    private static func unknown(_ kind: String, named name: String, in found: Found) -> StartError {
        StartError(found.status, "\(found.place): there is no \(kind) \(name.debugDescription) on this host")
    }
}
