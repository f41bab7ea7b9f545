import Testing

@testable import FairSharing

@Suite struct FairPlacesTests {
    private typealias Places = FairPlaces<String, Int>

    /// Enters a member whose rank is its number, of a group and of a part of it.
    private static func enter(
        _ number: Int, of group: String, _ part: String = "", isFavoured: Bool = false, in places: inout Places
    ) -> Int? {
        places.enter(number, of: [group, group + part], isFavoured: isFavoured) { $0 }.leaving?.member
    }

    @Test func `up to the bound nobody leaves, and for one more the lowest of the owner with most does`() {
        var places = Places(.init(all: 3))
        #expect(Self.enter(1, of: "a", in: &places) == nil)
        #expect(Self.enter(3, of: "b", in: &places) == nil)
        #expect(Self.enter(2, of: "b", in: &places) == nil)
        #expect(Self.enter(4, of: "c", in: &places) == 2)
        #expect(places.count == 3)
    }

    @Test func `the owner with most is found level by level, however many parts it has`() {
        var places = Places(.init(all: 4))
        _ = Self.enter(1, of: "good", "1", in: &places)
        _ = Self.enter(2, of: "good", "1", in: &places)
        for number in 3...1_000 {
            let left = Self.enter(number, of: "bad", "\(number)", in: &places)
            #expect(left != 1 && left != 2)
        }
        #expect(places.count == 4)
    }

    @Test func `an owner with a bound of its own pushes out its own, although there is room`() {
        var places = Places(.init(all: 10, ofOwner: [nil, 2]))
        for number in 1...3 { _ = Self.enter(number, of: "a", "other\(number)", in: &places) }
        #expect(Self.enter(4, of: "a", "1", in: &places) == nil)
        #expect(Self.enter(5, of: "a", "1", in: &places) == nil)
        #expect(Self.enter(6, of: "a", "1", in: &places) == 4)
    }

    @Test func `a favoured member stays, unless the favoured have more than what is kept for them`() {
        var places = Places(.init(all: 4, kept: 2))
        for number in 1...3 { _ = Self.enter(number, of: "a", isFavoured: true, in: &places) }
        _ = Self.enter(4, of: "b", in: &places)
        #expect(Self.enter(5, of: "c", in: &places) == 1, "three are favoured, and places for two are kept")
        #expect(Self.enter(6, of: "d", in: &places) == 4)
        #expect(Self.enter(7, of: "a", isFavoured: true, in: &places) == 2, "again there are three")
    }

    @Test func `a member is favoured from some moment on`() {
        var places = Places(.init(all: 2, kept: 1))
        let first = places.enter(1, of: []) { $0 }.entered
        places.favour(first)
        places.favour(first)
        #expect(Self.enter(2, of: "a", in: &places) == nil)
        #expect(Self.enter(3, of: "b", in: &places) == 2)
        places.leave(first)
        #expect(places.count == 1 && places.leave(first) == nil)
    }

    @Test func `who comes one too many is refused, at each level and in all, and not who is favoured`() {
        var places = Places(.init(all: 5, kept: 1, ofOwner: [3, 2]))
        let first = places.admit(1, of: ["a", "a1"])
        #expect(first != nil && places.admit(1, of: ["a", "a1"]) != nil)
        #expect(places.admit(1, of: ["a", "a1"]) == nil, "of the inner owner")
        #expect(places.admit(1, of: ["a", "a2"]) != nil)
        #expect(places.admit(1, of: ["a", "a3"]) == nil, "of the outer owner")
        #expect(places.admit(1, of: ["b", "b1"]) != nil)
        #expect(places.admit(1, of: ["c", "c1"]) == nil, "of all that are not favoured")
        #expect(places.admit(1, of: ["c", "c1"], isFavoured: true) != nil)
        #expect(places.admit(1, of: ["d", "d1"], isFavoured: true) == nil, "of all")
        if let first { places.leave(first) }
        #expect(places.admit(1, of: ["a", "a1"]) != nil)
    }
}
