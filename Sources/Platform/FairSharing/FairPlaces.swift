/// Places that owners share, with a bound in all, bounds per owner, and places kept for favoured members.
///
/// An owner may be within another, such as a process of a user or an address of a network. A place then counts for each
/// of them. A newcomer costs a few hash look-ups. All members are examined only if one of them has to leave.
package struct FairPlaces<Owner: Hashable & Sendable, Member: Sendable>: Sendable {
    package typealias ID = Int

    /// The bounds on the number of members at a time.
    package struct Bounds: Sendable {
        /// The bound for all owners together.
        package let all: Int
        /// The part of `all` that only favoured members may use.
        package let kept: Int
        /// The bounds for one owner at each level, the outermost first, or `nil` if a level has no bound.
        package let ofOwner: [Int?]

        package init(all: Int, kept: Int = 0, ofOwner: [Int?] = []) {
            self.all = all
            self.kept = min(kept, all)
            self.ofOwner = ofOwner
        }

        /// The most members that are not favoured.
        fileprivate var others: Int { all - kept }
    }

    private struct Place {
        /// The owners, the outermost first.
        let owners: [Owner]
        var isFavoured: Bool
        var member: Member

        /// Returns the owner at a level, or the innermost owner below the last level.
        ///
        /// Returns `nil` if the place has no owner.
        func owner(at level: Int) -> Owner? { level < owners.count ? owners[level] : owners.last }
    }

    private let bounds: Bounds
    private var places: [ID: Place] = [:]
    private var counts: [Owner: Int] = [:]
    private var favoured = 0
    private var lastID = 0

    package init(_ bounds: Bounds) { self.bounds = bounds }

    package var count: Int { places.count }

    /// Gives a newcomer a place if that exceeds no bound.
    ///
    /// - Parameter owners: the outermost first.
    /// - Returns: `nil` if a bound would be exceeded.
    package mutating func admit(_ member: Member, of owners: [Owner], isFavoured: Bool = false) -> ID? {
        let isFull = places.count >= bounds.all || !isFavoured && places.count - favoured >= bounds.others
        guard !isFull, owner(of: owners, having: 1) == nil else { return nil }
        return add(Place(owners: owners, isFavoured: isFavoured, member: member))
    }

    /// Gives a newcomer a place, and removes a member, perhaps the newcomer, if that is one too many.
    ///
    /// The member is of an owner with more than its bound. If no owner has more, the member is of the owner with the
    /// most members, level by level. In that case a favoured member leaves only if the favoured members have more
    /// places than are kept for them.
    ///
    /// - Parameters:
    ///   - owners: the outermost first.
    ///   - rank: the lowest leaves first. Among equals, the member that came first leaves.
    package mutating func enter(
        _ member: Member, of owners: [Owner], isFavoured: Bool = false, rank: (Member) -> Int
    ) -> (entered: ID, leaving: (id: ID, member: Member)?) {
        let id = add(Place(owners: owners, isFavoured: isFavoured, member: member))
        if let owner = owner(of: owners, having: 0) {
            return (id, remove({ $0.owners.contains(owner) }, rank))
        }
        guard places.count > bounds.all else { return (id, nil) }
        let isOfFavoured = places.count - favoured <= bounds.others
        return (id, remove({ $0.isFavoured == isOfFavoured }, rank))
    }

    /// Frees a place.
    ///
    /// - Returns: its member, or `nil` if the member has already left.
    @discardableResult
    package mutating func leave(_ id: ID) -> Member? {
        guard let place = places.removeValue(forKey: id) else { return nil }
        if place.isFavoured { favoured -= 1 }
        for owner in place.owners {
            let left = counts[owner, default: 0] - 1
            counts[owner] = left > 0 ? left : nil
        }
        return place.member
    }

    /// Removes the next candidate to leave: the lowest by `rank` of the owner with the most candidates.
    package mutating func removeNext(
        where isCandidate: (Member) -> Bool, rank: (Member) -> Int
    ) -> (id: ID, member: Member)? {
        remove({ isCandidate($0.member) }, rank)
    }

    /// Changes a member, unless it has left.
    package mutating func update(_ id: ID, _ change: (inout Member) -> Void) {
        guard var member = places[id]?.member else { return }
        change(&member)
        places[id]?.member = member
    }

    /// Makes a member a favoured one, unless it has left.
    package mutating func favour(_ id: ID) {
        guard places[id]?.isFavoured == false else { return }
        places[id]?.isFavoured = true
        favoured += 1
    }

    private mutating func add(_ place: Place) -> ID {
        lastID += 1
        places[lastID] = place
        if place.isFavoured { favoured += 1 }
        for owner in place.owners { counts[owner, default: 0] += 1 }
        return lastID
    }

    /// Returns the outermost owner that would exceed its bound with `newcomers` more members.
    private func owner(of owners: [Owner], having newcomers: Int) -> Owner? {
        zip(owners, bounds.ofOwner).first { owner, most in
            most.map { counts[owner, default: 0] + newcomers > $0 } ?? false
        }?.0
    }

    private mutating func remove(
        _ isCandidate: (Place) -> Bool, _ rank: (Member) -> Int
    ) -> (id: ID, member: Member)? {
        var candidates = places.filter { isCandidate($0.value) }
        for level in 0..<(candidates.values.map(\.owners.count).max() ?? 0) {
            var counts: [Owner?: Int] = [:]
            for place in candidates.values { counts[place.owner(at: level), default: 0] += 1 }
            let most = counts.values.max()
            candidates = candidates.filter { counts[$0.value.owner(at: level)] == most }
        }
        let ranked = candidates.map { id, place in (rank(place.member), id) }
        guard let id = ranked.min(by: <)?.1, let member = leave(id) else { return nil }
        return (id, member)
    }
}
