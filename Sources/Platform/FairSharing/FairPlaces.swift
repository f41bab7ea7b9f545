/// Places that owners share: so many in all, so many for one owner, and some that are kept for favoured members.
///
/// An owner may be within another, such as a process of a user or an address of a network: then a place is of each of
/// them. A newcomer costs a few hash look-ups, and a look at every member only if somebody has to leave.
package struct FairPlaces<Owner: Hashable & Sendable, Member: Sendable>: Sendable {
    package typealias ID = Int

    /// The most members at a time.
    package struct Bounds: Sendable {
        /// Of all owners together.
        package let all: Int
        /// The part of `all` that is for favoured members alone.
        package let kept: Int
        /// Of one owner at each level, the outermost first; `nil` if it has no bound of its own.
        package let ofOwner: [Int?]

        package init(all: Int, kept: Int = 0, ofOwner: [Int?] = []) {
            self.all = all
            self.kept = min(kept, all)
            self.ofOwner = ofOwner
        }

        /// The most that are not favoured.
        fileprivate var others: Int { all - kept }
    }

    private struct Place {
        /// The outermost first.
        let owners: [Owner]
        var isFavoured: Bool
        var member: Member

        /// The innermost, below the last level; `nil` if it has none.
        func owner(at level: Int) -> Owner? { level < owners.count ? owners[level] : owners.last }
    }

    private let bounds: Bounds
    private var places: [ID: Place] = [:]
    private var counts: [Owner: Int] = [:]
    private var favoured = 0
    private var lastID = 0

    package init(_ bounds: Bounds) { self.bounds = bounds }

    package var count: Int { places.count }

    /// Gives a newcomer a place if there is one.
    ///
    /// - Parameter owners: the outermost first.
    /// - Returns: `nil` if there is none.
    package mutating func admit(_ member: Member, of owners: [Owner], isFavoured: Bool = false) -> ID? {
        let isFull = places.count >= bounds.all || !isFavoured && places.count - favoured >= bounds.others
        guard !isFull, owner(of: owners, having: 1) == nil else { return nil }
        return add(Place(owners: owners, isFavoured: isFavoured, member: member))
    }

    /// Gives a newcomer a place; if that is one too many, somebody leaves, perhaps the newcomer itself.
    ///
    /// It is one of an owner with more than its bound. If there is none, it is one of the owner with most, level by level;
    /// a favoured one only if those have more than what is kept for them.
    ///
    /// - Parameters:
    ///   - owners: the outermost first.
    ///   - rank: the lowest leaves first, and of equals the one that came first.
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

    /// Takes a place back.
    ///
    /// - Returns: its member; `nil` if it has left before.
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

    /// Takes the place of the next to leave back, of the owner with most among those that `isCandidate` is true of.
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

    /// Favours a member from now on, unless it has left.
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

    /// The outermost of these that has more than its bound, or would with so many newcomers.
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
