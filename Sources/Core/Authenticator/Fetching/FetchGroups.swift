import IssuerProtocol
import Records

/// Which enrollments are fetched together: those of one issuer, in groups that have one loop each.
///
/// A group is as large as its issuer allows: 1,000 with a batch fetch, else one. Until that is known all are in one
/// group; if it changes, groups are split or joined at their next turn.
struct FetchGroups: Sendable {
    typealias ID = FetchGroupID

    /// What a group's loop has to do next.
    struct Turn: Sendable {
        /// Whom to fetch for.
        var members: [FetchMember] = []
        /// Suspended ones that are to be looked at again.
        var suspended: [EnrollmentID] = []
        /// When the next of those who are left out has to be asked for; seconds since 1970.
        var nextAt: Int64?
    }

    /// What others have to learn of.
    struct Changes: Sendable {
        /// New groups, each of which wants a loop.
        var begun: [ID] = []
        /// Groups to which someone came.
        var joined: [ID] = []
    }

    private struct Group {
        let target: IssuerTarget
        /// By authenticator id, which is what an answer names.
        var members: [TokenID: FetchMember] = [:]
        /// Someone came since the last turn.
        var hasNews = false

        /// Whether others fit in: an authenticator id can be in a call once.
        ///
        /// Two enrollments to which an issuer gave the same id are not fetched together.
        func hasRoom(for others: [FetchMember], of target: IssuerTarget, size: Int) -> Bool {
            self.target == target && members.count + others.count <= size
                && others.allSatisfy { members[$0.authenticatorId] == nil }
        }
    }

    private struct Place {
        let group: ID
        let authenticatorId: TokenID
    }

    private var last: ID = 0
    private var groups: [ID: Group] = [:]
    private var places: [EnrollmentID: Place] = [:]
    /// How many an issuer allows in a group, if that is known.
    private var sizes: [IssuerTarget: Int] = [:]
    private var changes = Changes()

    /// What has changed since the last call.
    mutating func takeChanges() -> Changes {
        defer { changes = Changes() }
        return changes
    }

    /// Takes an enrollment in, or notes whether one that is there is suspended now.
    mutating func place(_ member: FetchMember, of target: IssuerTarget) {
        guard let place = places[member.id], var known = self[place] else { return add(member, of: target) }
        guard known.isSuspended != member.isSuspended else { return }
        if member.isSuspended { known.suspend(until: member.pausedUntil) } else { known.resume() }
        self[place] = known
        if !member.isSuspended { noteJoined(place.group) }
    }

    mutating func remove(_ id: EnrollmentID) {
        guard let place = places.removeValue(forKey: id) else { return }
        self[place] = nil
    }

    subscript(id: EnrollmentID) -> FetchMember? {
        get { places[id].flatMap { self[$0] } }
        set {
            guard let place = places[id], let newValue else { return }
            self[place] = newValue
        }
    }

    func members(of id: ID) -> [EnrollmentID] { groups[id]?.members.values.map(\.id) ?? [] }

    func hasNews(_ id: ID) -> Bool { groups[id]?.hasNews == true }

    /// Whose enrollments they are; nil if the group is gone, because all have left or have moved to another.
    mutating func target(of id: ID) -> IssuerTarget? {
        endIfEmpty(id)
        groups[id]?.hasNews = false
        return groups[id]?.target
    }

    /// What to do next, once it is known how many the issuer allows in a group; nil if the group is gone.
    mutating func turn(of id: ID, size: Int, now: Int64) -> Turn? {
        guard let target = groups[id]?.target else { return nil }
        sizes[target] = size
        split(id, size: size)
        if size > 1 { joinToAnother(id, size: size) }
        endIfEmpty(id)
        groups[id]?.hasNews = false
        return groups[id].map { Self.turn($0.members.values, now: now) }
    }

    private static func turn(_ members: some Sequence<FetchMember>, now: Int64) -> Turn {
        var turn = Turn()
        for member in members {
            if member.pausedUntil > now {
                turn.nextAt = min(turn.nextAt ?? .max, member.pausedUntil)
            } else if !member.isSuspended {
                turn.members.append(member)
            } else if turn.suspended.count < 10 {
                turn.suspended.append(member.id)
            } else {
                // Those who are well do not wait for many who are not.
                turn.nextAt = now
            }
        }
        return turn
    }
}

extension FetchGroups {
    private subscript(place: Place) -> FetchMember? {
        get { groups[place.group]?.members[place.authenticatorId] }
        set { groups[place.group]?.members[place.authenticatorId] = newValue }
    }

    private mutating func add(_ member: FetchMember, of target: IssuerTarget) {
        let size = sizes[target] ?? .max
        // If groups have one member, no other group is searched.
        let found = size == 1 ? nil : groups.first { $0.value.hasRoom(for: [member], of: target, size: size) }?.key
        let id = found ?? begin(of: target)
        put(member, in: id)
        noteJoined(id)
    }

    private mutating func begin(of target: IssuerTarget) -> ID {
        last += 1
        groups[last] = Group(target: target)
        changes.begun.append(last)
        return last
    }

    private mutating func split(_ id: ID, size: Int) {
        guard let group = groups[id] else { return }
        let surplus = Array(group.members.values.dropFirst(size))
        for start in stride(from: 0, to: surplus.count, by: size) {
            let other = begin(of: group.target)
            for member in surplus[start...].prefix(size) { move(member, to: other) }
        }
        // A dictionary keeps the room that it once needed.
        if !surplus.isEmpty { groups[id]?.members.trim() }
    }

    private mutating func joinToAnother(_ id: ID, size: Int) {
        guard let group = groups[id] else { return }
        let members = Array(group.members.values)
        let other = groups.first { other in
            other.key < id && other.value.hasRoom(for: members, of: group.target, size: size)
        }
        guard let other = other?.key else { return }
        for member in members { move(member, to: other) }
        noteJoined(other)
    }

    private mutating func move(_ member: FetchMember, to id: ID) {
        if let place = places[member.id] { self[place] = nil }
        put(member, in: id)
    }

    private mutating func put(_ member: FetchMember, in id: ID) {
        groups[id]?.members[member.authenticatorId] = member
        places[member.id] = Place(group: id, authenticatorId: member.authenticatorId)
    }

    private mutating func noteJoined(_ id: ID) {
        groups[id]?.hasNews = true
        changes.joined.append(id)
    }

    private mutating func endIfEmpty(_ id: ID) {
        if groups[id]?.members.isEmpty == true { groups[id] = nil }
    }
}

extension Dictionary {
    fileprivate mutating func trim() { self = Dictionary(uniqueKeysWithValues: map { $0 }) }
}
