import HTTPServing
import Testing

@testable import ControlServer

@Suite struct ControlPlacesTests {
    private static let good = Caller.Peer(uid: 1, pid: 10)
    private static let bad = Caller.Peer(uid: 1, pid: 20)

    private let table = ControlPlaces(limit: 4, maxUnread: 100)

    /// Takes in connections that nobody has to leave for.
    private func enter(_ peers: Caller.Peer...) -> [ControlPlaces.ID] {
        peers.map { peer in
            let (id, leaving) = table.enter(peer)
            #expect(leaving == nil)
            return id
        }
    }

    @Test func `up to the bound nobody leaves, and for one more somebody does`() {
        let ids = enter(Self.good, Self.good, Self.good, Self.good)
        #expect(table.enter(Self.good).leaving == ids[0])
        #expect(table.figures.open == 4)
    }

    @Test func `of the process with most connections the one that waited longest leaves`() {
        let ids = enter(Self.good, Self.bad, Self.bad, Self.bad)
        #expect(table.enter(Self.good).leaving == ids[1])
    }

    @Test func `a process that opens too many pushes out its own`() {
        let ids = enter(Self.good)
        for _ in 1...1_000 { #expect(table.enter(Self.bad).leaving != ids[0]) }
        #expect(table.figures.open == 4)
    }

    @Test func `processes of one user push out those of the same user`() {
        let other = enter(Caller.Peer(uid: 2, pid: 1), Caller.Peer(uid: 2, pid: 1))
        for pid in Int32(1)...100 {
            let leaving = table.enter(Caller.Peer(uid: 3, pid: pid)).leaving
            #expect(leaving.map { other.contains($0) } != true)
        }
    }

    @Test func `what waits for its client leaves before what the agent is at work for`() {
        let ids = enter(Self.bad, Self.bad, Self.bad, Self.bad)
        for id in ids.prefix(3) { table.beginsAnswer(to: id) }
        #expect(table.enter(Self.bad).leaving == ids[3])
    }

    @Test func `if the agent is at work for all, the newest of the greatest leaves`() {
        let ids = enter(Self.good, Self.bad, Self.bad, Self.bad)
        for id in ids { table.beginsAnswer(to: id) }
        #expect(table.enter(Self.good).leaving == ids[3])
        let newcomer = table.enter(Self.bad)
        #expect(newcomer.leaving == newcomer.entered, "it waits, the others are at work")
    }

    @Test func `a wait begins anew when the agent's work is done`() {
        let ids = enter(Self.good, Self.good, Self.good, Self.good)
        table.beginsAnswer(to: ids[0])
        table.waits(ids[0])
        #expect(table.enter(Self.good).leaving == ids[1])
    }

    @Test func `a connection that is closed makes room`() {
        let ids = enter(Self.good, Self.good, Self.good, Self.good)
        table.leave(ids[2])
        #expect(table.enter(Self.good).leaving == nil)
    }

    @Test func `answers are left unread up to the bound, and for a byte more one leaves`() {
        let ids = enter(Self.good, Self.bad, Self.bad)
        #expect(table.waits(ids[0], unread: 20).isEmpty)
        #expect(table.waits(ids[1], unread: 40).isEmpty)
        #expect(table.waits(ids[2], unread: 40).isEmpty)
        #expect(table.waits(ids[2], unread: 41) == [ids[1]])
        #expect(table.figures.open == 2)
    }

    @Test func `a client that says something new has read its answer`() {
        let ids = enter(Self.good, Self.bad)
        table.waits(ids[0], unread: 100)
        table.beginsAnswer(to: ids[0])
        #expect(table.waits(ids[1], unread: 100).isEmpty)
    }

    @Test func `one answer that is too large alone costs nobody else`() {
        let ids = enter(Self.good, Self.good, Self.bad)
        #expect(table.waits(ids[2], unread: 101) == [ids[2]])
        #expect(table.figures.open == 2)
    }

    @Test func `what is no longer there is not marked`() {
        let ids = enter(Self.good)
        table.leave(ids[0])
        table.beginsAnswer(to: ids[0])
        #expect(table.waits(ids[0], unread: 1_000).isEmpty)
        #expect(table.figures.open == 0)
    }
}

extension ControlPlaces {
    /// - Returns: the connection that was cut for it, too.
    fileprivate func enter(_ peer: Caller.Peer) -> (entered: ID, leaving: ID?) {
        let (id, leaving) = enter(peer.owners, cut: {})
        return (id, leaving?.id)
    }
}
