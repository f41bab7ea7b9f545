import IssuerProtocol
import Records

/// The groups of enrollments that are fetched with one call; each group has one loop.
///
/// All enrollments of a group have the same issuer. The issuer sets the size of a group: 1,000 with a batch fetch, else
/// one. Until the size is known, all enrollments of the issuer are in one group. If the size changes, groups are split
/// or joined at their next turn.
struct FetchGroups: Sendable {
    typealias ID = FetchGroupID

    /// The next work of a group's loop.
    struct Turn: Sendable {
        /// The enrollments to fetch for.
        var members: [FetchMember] = []
        /// The suspended enrollments to try again.
        var suspended: [EnrollmentID] = []
        /// The time at which the next paused enrollment is due, in seconds since 1970.
        var nextAt: Int64?
    }

    /// The changes that the loops must learn of.
    struct Changes: Sendable {
        /// The new groups.
        ///
        /// Each needs a loop.
        var begun: [ID] = []
        /// The groups that an enrollment has joined.
        var joined: [ID] = []
    }

    private struct Group {
        let target: IssuerTarget
        /// The members by authenticator id, the key of an issuer's answer.
        var members: [TokenID: FetchMember] = [:]
        /// Whether an enrollment has joined since the last turn.
        var hasNews = false

        /// Returns whether the group has room for these members.
        ///
        /// An authenticator id can be in a call only once. So two enrollments with the same id from the issuer are not
        /// fetched together.
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
    /// The size of a group that each issuer allows, if it is known.
    private var sizes: [IssuerTarget: Int] = [:]
    private var changes = Changes()

    /// Returns the changes since the last call.
    mutating func takeChanges() -> Changes {
        defer { changes = Changes() }
        return changes
    }

    /// Adds an enrollment, or updates whether a known one is suspended.
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

    /// The issuer of the group's enrollments.
    ///
    /// `nil` if the group has ended, because all enrollments have left or have moved to another group.
    mutating func target(of id: ID) -> IssuerTarget? {
        endIfEmpty(id)
        groups[id]?.hasNews = false
        return groups[id]?.target
    }

    /// The group's next turn, for the size of a group that the issuer allows.
    ///
    /// `nil` if the group has ended.
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
                // Active enrollments do not wait for many suspended ones.
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
        // If a group has one member, no other group can have room.
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
        // A dictionary does not give back its capacity by itself.
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
