import Testing

@testable import ControlServer

@Suite struct ConnectionTableTests {
    private static let good = ConnectionTable.Peer(uid: 1, pid: 10)
    private static let bad = ConnectionTable.Peer(uid: 1, pid: 20)

    private var table = ConnectionTable(limit: 4, maxBytes: 100)

    /// Takes in connections that nobody has to leave for.
    private mutating func enter(_ peers: ConnectionTable.Peer...) -> [ConnectionTable.ID] {
        peers.map { peer in
            let (id, leaving) = table.enter(peer)
            #expect(leaving == nil)
            return id
        }
    }

    @Test mutating func `up to the bound nobody leaves, and for one more somebody does`() {
        let ids = enter(Self.good, Self.good, Self.good, Self.good)
        #expect(table.enter(Self.good).leaving == ids[0])
        #expect(table.count == 4)
    }

    @Test mutating func `of the process with most connections the one that waited longest leaves`() {
        let ids = enter(Self.good, Self.bad, Self.bad, Self.bad)
        #expect(table.enter(Self.good).leaving == ids[1])
    }

    @Test mutating func `a process that opens too many pushes out its own`() {
        let ids = enter(Self.good)
        for _ in 1...1_000 { #expect(table.enter(Self.bad).leaving != ids[0]) }
        #expect(table.count == 4)
    }

    @Test mutating func `processes of one user push out those of the same user`() {
        let other = enter(ConnectionTable.Peer(uid: 2, pid: 1), ConnectionTable.Peer(uid: 2, pid: 1))
        for pid in Int32(1)...100 {
            let leaving = table.enter(ConnectionTable.Peer(uid: 3, pid: pid)).leaving
            #expect(leaving.map { other.contains($0) } != true)
        }
    }

    @Test mutating func `what waits for its client leaves before what the agent is at work for`() {
        let ids = enter(Self.bad, Self.bad, Self.bad, Self.bad)
        for id in ids.prefix(3) { table.work(for: id) }
        #expect(table.enter(Self.bad).leaving == ids[3])
    }

    @Test mutating func `if the agent is at work for all, the newest of the greatest leaves`() {
        let ids = enter(Self.good, Self.bad, Self.bad, Self.bad)
        for id in ids { table.work(for: id) }
        #expect(table.enter(Self.good).leaving == ids[3])
        let newcomer = table.enter(Self.bad)
        #expect(newcomer.leaving == newcomer.entered, "it waits, the others are at work")
    }

    @Test mutating func `a wait begins anew when the agent's work is done`() {
        let ids = enter(Self.good, Self.good, Self.good, Self.good)
        table.work(for: ids[0])
        _ = table.wait(for: ids[0])
        #expect(table.enter(Self.good).leaving == ids[1])
    }

    @Test mutating func `a connection that is closed makes room`() {
        let ids = enter(Self.good, Self.good, Self.good, Self.good)
        table.leave(ids[2])
        #expect(table.enter(Self.good).leaving == nil)
    }

    @Test mutating func `answers are left unread up to the bound, and for a byte more one leaves`() {
        let ids = enter(Self.good, Self.bad, Self.bad)
        #expect(table.wait(for: ids[0], bytes: 20).isEmpty)
        #expect(table.wait(for: ids[1], bytes: 40).isEmpty)
        #expect(table.wait(for: ids[2], bytes: 40).isEmpty)
        #expect(table.wait(for: ids[2], bytes: 41) == [ids[1]])
        #expect(table.count == 2)
    }

    @Test mutating func `a client that says something new has read its answer`() {
        let ids = enter(Self.good, Self.bad)
        _ = table.wait(for: ids[0], bytes: 100)
        table.work(for: ids[0])
        #expect(table.wait(for: ids[1], bytes: 100).isEmpty)
    }

    @Test mutating func `one answer that is too large alone costs nobody else`() {
        let ids = enter(Self.good, Self.good, Self.bad)
        #expect(table.wait(for: ids[2], bytes: 101) == [ids[2]])
        #expect(table.count == 2)
    }

    @Test mutating func `what is no longer there is not marked`() {
        let ids = enter(Self.good)
        table.leave(ids[0])
        table.work(for: ids[0])
        #expect(table.wait(for: ids[0], bytes: 1_000).isEmpty)
        #expect(table.count == 0)
    }
}
