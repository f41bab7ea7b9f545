import Testing

@testable import ControlServer

@Suite struct ControlAccessTests {
    private static let owner: UInt32 = 900
    private static let group: UInt32 = 700

    private func right(_ access: ControlAccess, uid: UInt32 = 1_000, gid: UInt32 = 1_000, groups: [UInt32] = [])
        -> ControlRight
    {
        access.right(of: PeerCredentials(uid: uid, gid: gid, pid: 1, supplementary: groups), owner: Self.owner)
    }

    @Test(arguments: [
        ControlAccess(), ControlAccess(group: group, mayLook: .init(), mayDecide: .init()),
        ControlAccess(group: group, mayLook: .init(users: [0, owner])),
    ])
    func `root and the agent's user may do all whatever the settings say`(access: ControlAccess) {
        #expect(right(access, uid: 0) == .own)
        #expect(right(access, uid: Self.owner) == .own)
    }

    @Test func `without settings nobody else may do anything`() {
        #expect(right(ControlAccess()) == .nothing)
        #expect(right(ControlAccess(), gid: 0, groups: [Self.group, 0]) == .nothing)
    }

    @Test func `the socket's group may decide, be it a process's first group or another`() {
        let access = ControlAccess(group: Self.group)
        #expect(right(access) == .nothing)
        #expect(right(access, gid: Self.group) == .decide)
        #expect(right(access, groups: [1, 2, Self.group]) == .decide)
    }

    @Test func `a list takes the place of the socket's group for its right alone`() {
        let deciding = ControlAccess(group: Self.group, mayDecide: .init(users: [1_000]))
        #expect(right(deciding) == .decide)
        #expect(right(deciding, uid: 1_001, groups: [Self.group]) == .look)
        let looking = ControlAccess(group: Self.group, mayLook: .init(groups: [701]))
        #expect(right(looking, groups: [Self.group]) == .decide)
        #expect(right(looking, groups: [701]) == .look)
        #expect(right(looking) == .nothing)
    }

    @Test func `a list that is empty lets nobody in`() {
        let access = ControlAccess(group: Self.group, mayLook: .init(), mayDecide: .init())
        #expect(right(access, gid: Self.group) == .nothing)
    }

    @Test func `who may decide may look`() {
        let access = ControlAccess(group: Self.group, mayLook: .init(), mayDecide: .init(groups: [5]))
        #expect(right(access, groups: [5]) == .decide)
        #expect(ControlRight.own > ControlRight.decide)
        #expect(ControlRight.decide > ControlRight.look)
        #expect(ControlRight.look > ControlRight.nothing)
    }
}

@Suite struct MediaRangeTests {
    @Test(arguments: [
        "application/json", "*/*", "application/*", "Application/JSON ; charset=utf-8", "text/html, */*;q=0.1",
        " application/json;q=1", "text/html,application/json;q=0.001",
        "application/json, application/*;q=0, */*;q=0", "*/*;q=0, application/*",
    ])
    func `a range that has the type takes it`(field: String) {
        #expect(MediaRanges(field).include("application/json"))
    }

    @Test(arguments: [
        "", "text/html", "application/jsonx", "application/json;q=0", "application/json; q=0.000", "*/*;q=0", "text/*",
        "application", "json",
        "application/json;q=0, */*", "*/*, application/*;q=0",
    ])
    func `a range that has it not, or with no weight, does not`(field: String) {
        #expect(!MediaRanges(field).include("application/json"))
    }
}
