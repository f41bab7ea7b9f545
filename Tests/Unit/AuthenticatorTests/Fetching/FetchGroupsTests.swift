import IssuerProtocol
import Testing

@testable import Authenticator
@testable import Records

struct FetchGroupsTests {
    private let here = Result { IssuerTarget(issuer: try IssuerURL("https://issuer.example"), rootsPEM: nil) }

    private func id(_ number: Int) throws -> EnrollmentID {
        let digits = String(number)
        return try #require(EnrollmentID(String(repeating: "0", count: 20 - digits.count) + digits))
    }

    private func member(_ number: Int, authenticator: Int? = nil, suspendedUntil: Int64? = nil) throws -> FetchMember {
        FetchMember(
            id: try id(number),
            authenticatorId: try #require(TokenID("authenticator-\(authenticator ?? number)")),
            token: try #require(AccessToken("token-\(number)")), suspendedUntil: suspendedUntil)
    }

    /// As many enrollments of one issuer, and the group in which they are first.
    private func groups(of count: Int) throws -> (FetchGroups, FetchGroups.ID) {
        var groups = FetchGroups()
        for number in 0..<count { groups.place(try member(number), of: try here.get()) }
        let begun = groups.takeChanges().begun
        return (groups, try #require(begun.first))
    }

    private func turn(of id: FetchGroups.ID, _ groups: inout FetchGroups, now: Int64 = 0) throws -> FetchGroups.Turn {
        let turn = groups.turn(of: id, size: 1_000, now: now)
        return try #require(turn)
    }

    /// How many are in each group after a turn of each, until no new group begins.
    private func sizes(_ groups: inout FetchGroups, _ ids: [FetchGroups.ID], size: Int) -> [Int] {
        var ids = ids
        var sizes: [Int] = []
        while let id = ids.popLast() {
            if groups.turn(of: id, size: size, now: 0) != nil { sizes.append(id) }
            ids += groups.takeChanges().begun
        }
        return sizes.map { groups.members(of: $0).count }.sorted()
    }

    @Test func `until the issuer's size is known all are in one group`() throws {
        let (groups, id) = try groups(of: 1_500)
        #expect(groups.members(of: id).count == 1_500)
    }

    @Test func `with a batch fetch a thousand share a group, and one more has another`() throws {
        var (thousand, first) = try groups(of: 1_000)
        #expect(sizes(&thousand, [first], size: 1_000) == [1_000])
        var (more, other) = try groups(of: 2_001)
        #expect(sizes(&more, [other], size: 1_000) == [1, 1_000, 1_000])
    }

    @Test func `without a batch fetch each has a group of its own, also who comes later`() throws {
        var (groups, id) = try groups(of: 5)
        #expect(sizes(&groups, [id], size: 1) == [1, 1, 1, 1, 1])
        groups.place(try member(6), of: try here.get())
        #expect(groups.takeChanges().begun.count == 1)
    }

    @Test func `if an issuer gets a batch fetch, all come together again, with their cursors`() throws {
        var (groups, id) = try groups(of: 5)
        var all = [id]
        _ = groups.turn(of: id, size: 1, now: 0)
        all += groups.takeChanges().begun
        for number in 0..<5 { groups[try self.id(number)]?.goOn(from: "cursor-\(number)") }
        #expect(sizes(&groups, all, size: 1_000) == [5])
        let turn = try turn(of: id, &groups)
        let cursors = Dictionary(uniqueKeysWithValues: turn.members.map { ($0.id, $0.cursor) })
        for number in 0..<5 { #expect(cursors[try self.id(number)] == "cursor-\(number)") }
        #expect(groups.target(of: all[1]) == nil, "the group that was left is gone")
    }

    @Test func `who comes later joins a group that has room, and rings its notifier`() throws {
        var (groups, id) = try groups(of: 999)
        _ = groups.turn(of: id, size: 1_000, now: 0)
        #expect(!groups.hasNews(id))
        groups.place(try member(1_001), of: try here.get())
        let changes = groups.takeChanges()
        #expect(changes.begun.isEmpty && changes.joined == [id] && groups.hasNews(id))
        groups.place(try member(1_002), of: try here.get())
        #expect(groups.takeChanges().begun.count == 1)
    }

    @Test func `a member's pauses grow, and begin anew once its list has come`() throws {
        var member = try member(1)
        let greatest = ConstantEntropy(byte: 0xFF)
        for end: Int64 in [1, 2, 4] {
            try member.pause(now: 0, retryAfter: nil, entropy: greatest)
            #expect(member.pausedUntil == end)
        }
        member.goOn(from: "cursor")
        try member.pause(now: 0, retryAfter: nil, entropy: greatest)
        #expect(member.pausedUntil == 1)
    }

    @Test func `other issuers and other roots have other groups`() throws {
        var (groups, id) = try groups(of: 1)
        _ = groups.turn(of: id, size: 1_000, now: 0)
        let issuer = try here.get().issuer
        groups.place(try member(2), of: IssuerTarget(issuer: issuer, rootsPEM: "roots"))
        groups.place(
            try member(3), of: IssuerTarget(issuer: try IssuerURL("https://other.example"), rootsPEM: nil))
        #expect(groups.takeChanges().begun.count == 2)
    }

    @Test func `enrollments to which an issuer gave the same authenticator id are not fetched together`() throws {
        var (groups, id) = try groups(of: 2)
        _ = groups.turn(of: id, size: 1_000, now: 0)
        groups.place(try member(7, authenticator: 1), of: try here.get())
        let begun = groups.takeChanges().begun
        #expect(begun.count == 1)
        #expect(sizes(&groups, [id] + begun, size: 1_000) == [1, 2])
    }

    @Test func `a group that all have left is gone`() throws {
        var (groups, id) = try groups(of: 2)
        for number in 0..<2 { groups.remove(try self.id(number)) }
        #expect(groups.target(of: id) == nil)
        #expect(groups.turn(of: id, size: 1_000, now: 0) == nil)
    }

    @Test func `a suspended one is left out until its time, and no more than ten are looked at in a turn`() throws {
        var (groups, id) = try groups(of: 1)
        for number in 10..<25 { groups.place(try member(number, suspendedUntil: 100), of: try here.get()) }
        let before = try turn(of: id, &groups, now: 99)
        #expect(before.members.count == 1 && before.suspended.isEmpty && before.nextAt == 100)
        let after = try turn(of: id, &groups, now: 100)
        #expect(after.members.count == 1 && after.suspended.count == 10 && after.nextAt == 100)
    }

    @Test func `a group looks again as soon as the first of its paused members may`() throws {
        var (groups, id) = try groups(of: 1)
        for (number, end) in [(10, 300), (11, 100), (12, 200)] {
            groups.place(try member(number, suspendedUntil: Int64(end)), of: try here.get())
        }
        #expect(try turn(of: id, &groups, now: 0).nextAt == 100)
        #expect(try turn(of: id, &groups, now: 150).nextAt == 200)
    }

    @Test func `one that is resumed is asked for at once, from where it was`() throws {
        var (groups, id) = try groups(of: 1)
        let one = try member(0)
        groups[one.id]?.goOn(from: "cursor")
        groups.place(try member(0, suspendedUntil: 100), of: try here.get())
        let without = try turn(of: id, &groups)
        #expect(without.members.isEmpty)
        groups.place(one, of: try here.get())
        #expect(groups.takeChanges().joined == [id])
        let with = try turn(of: id, &groups)
        #expect(with.members.first?.cursor == "cursor")
    }
}
