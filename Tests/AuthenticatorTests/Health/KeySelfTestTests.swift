import Foundation
import IssuerProtocol
import Keys
import Testing

@testable import Authenticator

/// A key shows what it is before it signs.
@Suite(.timeLimit(.minutes(10)))
struct KeySelfTestTests {
    private let sample: SampleAgent

    init() throws { sample = try SampleAgent() }

    /// A pending request of a card.
    private func request(_ number: Int, for card: SampleEnrollment) async throws -> RequestID {
        try await sample.receive(.numbered(number), for: card)
        return try #require(try await sample.requests().last).id
    }

    /// The approval fails because of the key: nothing is signed, and the request goes on waiting.
    private func expectRefusal(_ id: RequestID, of card: SampleEnrollment) async throws -> String {
        let before = try await sample.outbox(of: card).count
        let failure = try await #require(throws: CommandError.self) { try await sample.approve(id) }
        #expect(failure.code == .keyUnavailable)
        #expect(try await sample.request(id).life == .pending)
        #expect(try await sample.outbox(of: card).count == before)
        let test = try #require(sample.agent.keyTest(of: card.id))
        #expect(test.problem == failure.message && test.at == sample.now)
        return failure.message
    }

    @Test func `before its first signature since the start a key signs and verifies once`() async throws {
        let card = try await sample.enrolled()
        for number in 1...3 { try await sample.approve(try await request(number, for: card)) }
        #expect(sample.custody.proofs.value == 1)
        let passed = KeyTest(extent: .signature, at: sample.now, problem: nil)
        #expect(sample.agent.keyTest(of: card.id) == passed)
        let other = try await sample.enrolled("other")
        try await sample.approve(try await request(4, for: other))
        #expect(sample.custody.proofs.value == 2)
        let last = try await request(5, for: card)
        let later = try sample.restarted()
        #expect(later.agent.keyTest(of: card.id) == nil)
        try await later.approve(last)
        #expect(later.custody.proofs.value == 1)
    }

    @Test func `a key that does not verify what it signs signs nothing, and is tried again at the next use`()
        async throws
    {
        let card = try await sample.enrolled()
        try await sample.approve(try await request(1, for: card))
        let id = try await request(2, for: card)
        sample.custody.breakProofs()
        #expect(try await sample.approve(id).life.state == .approved, "it has proven itself since the start")
        let later = try sample.restarted()
        later.custody.breakProofs()
        try await later.receive(.numbered(3), for: card)
        let third = try #require(try await later.requests().last).id
        #expect(try await failureCode { try await later.approve(third) } == .keyUnavailable)
        #expect(try await later.outbox(of: card).count == 2)
        later.custody.breakProofs(false)
        try await later.approve(third)
        #expect(later.agent.keyTest(of: card.id)?.problem == nil)
    }

    @Test func `another key than the registered one signs nothing, until that is put back`() async throws {
        let card = try await sample.enrolled()
        try await sample.approve(try await request(1, for: card))
        let id = try await request(2, for: card)
        let path = sample.keyPath(of: card)
        let own = try Data(contentsOf: URL(filePath: path))
        try KeyFile.write(
            .generate(.es256), to: path, secret: sample.secret, label: "credential key \(card.id.text)",
            replacing: true)
        #expect(try await expectRefusal(id, of: card).contains("another one than the one that was registered"))
        try own.write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        try await sample.approve(id)
        #expect(sample.custody.proofs.value == 2, "after a failure it has to show it anew")
    }

    @Test func `a key whose token does not answer cannot be used, which is told until it answers`() async throws {
        let card = try await sample.enrolled()
        let id = try await request(1, for: card)
        sample.custody.beforeOpening { throw CustodyError(.silent, "the token has not answered") }
        #expect(try await expectRefusal(id, of: card).contains("the token has not answered"))
        sample.custody.beforeOpening(nil)
        try await sample.approve(id)
        #expect(sample.agent.keyTest(of: card.id)?.problem == nil)
    }

    @Test func `a PIN that is wrong or missing says nothing about the key`() async throws {
        let (card, id) = try await sample.enrolledWithPIN()
        for pin in [nil, try .wrong] as [PIN?] {
            #expect(try await sample.refusal(of: id, pin: pin) != nil)
            #expect(sample.agent.keyTest(of: card.id) == nil)
        }
        try await sample.approve(id, pin: .right)
        #expect(sample.agent.keyTest(of: card.id)?.extent == .signature)
    }

    @Test(arguments: BadFile.allCases)
    func `a key file that is not in order signs nothing, and others go on`(_ bad: BadFile) async throws {
        let (card, other) = (try await sample.enrolled("a"), try await sample.enrolled("b"))
        let path = sample.keyPath(of: card)
        let id = try await request(1, for: card)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".kept")
        try bad.make(at: path, from: path + ".kept", other: sample.keyPath(of: other))
        #expect(try await expectRefusal(id, of: card).contains(bad.words), "\(bad)")
        try await sample.approve(try await request(2, for: other))
        if bad != .missing { try FileManager.default.removeItem(atPath: path) }
        try FileManager.default.moveItem(atPath: path + ".kept", toPath: path)
        try await sample.approve(id)
        #expect(sample.agent.keyTest(of: card.id)?.problem == nil)
    }
}

/// What can stand where a key file was.
enum BadFile: CaseIterable {
    case missing, truncated, readableByOthers, directory, link, anothersKey, empty

    func make(at path: String, from kept: String, other: String) throws {
        let files = FileManager.default
        switch self {
        case .missing: break
        case .truncated: try write(Data(contentsOf: URL(filePath: kept)).dropLast(), to: path)
        case .readableByOthers: try write(Data(contentsOf: URL(filePath: kept)), to: path, mode: 0o644)
        case .directory: try files.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .link: try files.createSymbolicLink(atPath: path, withDestinationPath: kept)
        case .anothersKey: try write(Data(contentsOf: URL(filePath: other)), to: path)
        case .empty: try write(Data(), to: path)
        }
    }

    private func write(_ bytes: Data, to path: String, mode: Int = 0o600) throws {
        try bytes.write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    /// What the refusal says.
    var words: String {
        switch self {
        case .missing: "there is no such file"
        case .truncated, .anothersKey: "not sealed by this secret for this use, or it was changed"
        case .readableByOthers: "its mode is 0644"
        case .directory, .link: "it is not a regular file"
        case .empty: "not in the form that this program seals"
        }
    }
}
