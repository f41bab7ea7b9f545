import Testing

@testable import HTTPServing

@Suite struct SourceTableTests {
    private static let good = Source("192.0.2.1", isBehindProxy: false)
    private static let bad = Source("203.0.113.9", isBehindProxy: false)
    private static let here = Source("127.0.0.1", isBehindProxy: false)

    private var table = SourceTable(limit: 8, maxOfSource: 2)

    /// Takes in connections that nobody has to leave for.
    private mutating func enter(_ sources: Source...) -> [SourceTable.ID] {
        sources.map { source in
            let (id, leaving) = table.enter(source)
            #expect(leaving == nil)
            return id
        }
    }

    @Test mutating func `an address has its share, and one more pushes out the one that has trickled longest`() {
        let other = enter(Self.good)
        let own = enter(Self.bad, Self.bad)
        #expect(table.enter(Self.bad).leaving == own[0])
        for _ in 1...1_000 { #expect(table.enter(Self.bad).leaving != other[0]) }
        #expect(table.count == 3)
    }

    @Test mutating func `this machine, and a proxy, have no share but the whole`() {
        let ids = enter(Self.here, Self.here, Self.here, Self.here, Self.here, Self.here, Self.here, Self.here)
        #expect(table.enter(Self.here).leaving == ids[0])
        #expect(table.count == 8)
    }

    @Test mutating func `when all is full one of the address with most leaves, and a newcomer is taken`() {
        let limit = enter(Self.here, Self.here, Self.here, Self.here, Self.here, Self.here, Self.here)
        _ = enter(Self.good)
        #expect(table.enter(Self.bad).leaving == limit[0])
    }

    @Test mutating func `from ever new addresses too the one that has trickled longest leaves`() {
        let first = table.enter(Source(bytes: [1], isShared: false)).entered
        for number: UInt8 in 2...8 { _ = table.enter(Source(bytes: [number], isShared: false)) }
        table.owes(first, anew: true)
        let newcomer = table.enter(Self.good)
        #expect(newcomer.leaving != first && newcomer.leaving != newcomer.entered)
        #expect(table.count == 8)
    }

    @Test mutating func `who has sent a whole request leaves last, and a newcomer before it`() {
        let ids = enter(Self.bad, Self.bad)
        table.hasWhole(ids[0])
        #expect(table.enter(Self.bad).leaving == ids[1])
        table = SourceTable(limit: 8, maxOfSource: 2)
        for id in enter(Self.bad, Self.bad) { table.hasWhole(id) }
        let newcomer = table.enter(Self.bad)
        #expect(newcomer.leaving == newcomer.entered)
    }

    @Test mutating func `a good answer earns a client time, another does not`() {
        let ids = enter(Self.bad, Self.bad)
        table.hasWhole(ids[0])
        table.owes(ids[0], anew: false)
        #expect(table.enter(Self.bad).leaving == ids[0])
        table.hasWhole(ids[1])
        table.owes(ids[1], anew: true)
        #expect(table.enter(Self.bad).leaving != ids[1])
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
        #expect((Source(one, isBehindProxy: false) == Source(other, isBehindProxy: false)) == isSame)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("128.0.0.1", false),
        ("::2", false), ("2001:db8::1", false),
    ])
    func `many come from this machine, and from a proxy`(_ address: String, _ isShared: Bool) {
        #expect(Source(address, isBehindProxy: false).isShared == isShared)
        #expect(Source(address, isBehindProxy: true).isShared)
    }
}
