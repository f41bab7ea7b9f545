import Testing

@testable import HTTPServing

@Suite struct SourcePlacesTests {
    private static let good = "192.0.2.1"
    private static let bad = "203.0.113.9"
    private static let here = "127.0.0.1"

    private let places = SourcePlaces(limit: 8)

    /// Takes in connections that nobody has to leave for.
    private func enter(_ sources: String...) -> [SourcePlaces.ID] {
        sources.map { source in
            let (id, leaving) = places.enter(source)
            #expect(leaving == nil)
            return id
        }
    }

    @Test func `an address has its share, and one more pushes out the one that has trickled longest`() {
        let other = enter(Self.good)
        let own = enter(Self.bad, Self.bad)
        #expect(places.enter(Self.bad).leaving == own[0])
        for _ in 1...1_000 { #expect(places.enter(Self.bad).leaving != other[0]) }
        #expect(places.figures == .init(open: 3, crowded: 1_001))
    }

    @Test func `this machine, and a proxy, have no share but the whole`() {
        for (places, address) in [(places, Self.here), (SourcePlaces(limit: 8, isBehindProxy: true), Self.good)] {
            let ids = (1...8).map { _ in places.enter(address).entered }
            #expect(places.figures == .init(open: 8))
            #expect(places.enter(address).leaving == ids[0])
            #expect(places.figures == .init(open: 8, crowded: 1))
        }
    }

    @Test func `when all is full one of the address with most leaves, and a newcomer is taken`() {
        let limit = enter(Self.here, Self.here, Self.here, Self.here, Self.here, Self.here, Self.here)
        _ = enter(Self.good)
        #expect(places.enter(Self.bad).leaving == limit[0])
    }

    @Test func `from ever new addresses too the one that has trickled longest leaves`() {
        let first = places.enter("10.1.0.1").entered
        for number in 2...8 { _ = places.enter("10.\(number).0.1") }
        places.owes(first, wasGood: true)
        let newcomer = places.enter(Self.good)
        #expect(newcomer.leaving != first && newcomer.leaving != newcomer.entered)
        #expect(places.figures.open == 8)
    }

    @Test func `who has sent a whole request leaves last, and a newcomer before it`() {
        let ids = enter(Self.bad, Self.bad)
        places.beginsAnswer(to: ids[0])
        #expect(places.enter(Self.bad).leaving == ids[1])
        let (places, bad) = (SourcePlaces(limit: 8), Self.bad)
        for _ in 1...2 { places.beginsAnswer(to: places.enter(bad).entered) }
        let newcomer = places.enter(bad)
        #expect(newcomer.leaving == newcomer.entered)
        #expect(places.figures == .init(open: 2, refused: 1))
    }

    @Test func `a good answer earns a client time, another does not`() {
        let ids = enter(Self.bad, Self.bad)
        places.beginsAnswer(to: ids[0])
        places.owes(ids[0], wasGood: false)
        #expect(places.enter(Self.bad).leaving == ids[0])
        places.beginsAnswer(to: ids[1])
        places.owes(ids[1], wasGood: true)
        #expect(places.enter(Self.bad).leaving != ids[1])
    }

    /// Addresses of one network that are as many hosts.
    @Test(arguments: [("2001:db8:1:", "::1"), ("2001:db8:", "::1"), ("203.0.113.", ""), ("203.0.", ".1")])
    func `a sender with all the hosts of a network pushes out its own and nobody else's`(
        _ network: String, _ rest: String
    ) {
        let others = enter("2001:db9::1", "2001:db9::1", Self.good)
        for number in 1...1_000 {
            let leaving = places.enter("\(network)\(number % 256)\(rest)").leaving
            #expect(leaving.map(others.contains) != true)
        }
        #expect(places.figures.open == 8)
    }

    @Test func `who has had a good request stays, wherever the others come from`() {
        let good = enter(Self.good, Self.good, "192.0.2.2", Self.here)
        for id in good { places.owes(id, wasGood: true) }
        for number in 1...1_000 {
            let leaving = places.enter("\(number % 200 + 1).\(number % 256).0.1").leaving
            #expect(leaving.map(good.contains) != true)
        }
    }

    @Test func `good requests on all places leave half of them to others`() {
        for number in 1...8 { places.owes(places.enter("10.0.\(number).1").entered, wasGood: true) }
        var own: [SourcePlaces.ID] = []
        for number in 1...4 {
            let newcomer = places.enter("192.0.\(number).1")
            #expect(newcomer.leaving.map { $0 != newcomer.entered && !own.contains($0) } == true)
            own.append(newcomer.entered)
        }
        #expect(places.enter("198.51.100.1").leaving == own[0], "the other half is kept")
    }
}

extension SourcePlaces {
    /// - Returns: the connection that was cut for it, too.
    fileprivate func enter(_ address: String) -> (entered: ID, leaving: ID?) {
        let (id, leaving) = enter(Source.path(of: address), cut: {})
        return (id, leaving?.id)
    }
}

@Suite struct SourceTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("192.0.2.1", "::ffff:192.0.2.1", true),
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true), ("2001:db8:0:1::1", "2001:db8:0:2::1", false),
    ])
    func `hosts are told apart by their IPv4 address, or by 64 bits of IPv6`(
        _ one: String, _ other: String, _ isSame: Bool
    ) {
        #expect((Source.path(of: one).last == Source.path(of: other).last) == isSame)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.2", 2), ("192.0.2.1", "192.0.3.1", 1), ("192.0.2.1", "192.1.2.1", 0),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", 2), ("2001:db8:0:1::1", "2001:db8:1:1::1", 1),
        ("2001:db8:0:1::1", "2001:db9:0:1::1", 0), ("192.0.2.1", "c000:0201::1", 0),
    ])
    func `hosts of one network are in one, of 24 or 16 bits, or of 48 or 32`(
        _ one: String, _ other: String, _ shared: Int
    ) {
        #expect(zip(Source.path(of: one), Source.path(of: other)).count { $0 == $1 } == shared)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("128.0.0.1", false),
        ("::2", false), ("2001:db8::1", false),
    ])
    func `many come from this machine, in which there is no host`(_ address: String, _ isShared: Bool) {
        #expect((Source.path(of: address).count == 1) == isShared)
    }
}
