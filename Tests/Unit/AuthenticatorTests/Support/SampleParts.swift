import FoundationEssentials
import Glibc
import IssuerProtocol
import Keys
import Logging
import Records
import Signing
import StoreTables
import Synchronization

/// The same byte over and over: the least and the greatest that can be drawn.
struct ConstantEntropy: Entropy {
    let byte: UInt8

    func bytes(_ count: Int) throws -> [UInt8] { Array(repeating: byte, count: count) }
}

/// A custody that lets a test act while the key is at work.
struct WatchedCustody: KeyCustody {
    let real: any KeyCustody
    private let state = Box<(@Sendable () async throws -> Void)?>(nil)
    private let opening = Box<(@Sendable () async throws -> Void)?>(nil)
    private let making = Box<(@Sendable () async throws -> Void)?>(nil)
    private let verification = Box<Bool?>(nil)
    private let brokenProofs = Box(false)
    /// How often a key has shown that it signs.
    let proofs = Box(0)

    init(_ real: any KeyCustody) { self.real = real }

    /// Called before each signature is made, until another is set.
    func beforeSigning(_ action: (@Sendable () async throws -> Void)?) { state.set(action) }

    /// Called before each key is opened, until another is set.
    func beforeOpening(_ action: (@Sendable () async throws -> Void)?) { opening.set(action) }

    /// Called before each key is made, until another is set.
    func beforeMaking(_ action: (@Sendable () async throws -> Void)?) { making.set(action) }

    /// What keys say that are opened from now on.
    func openedKeysVerifyUser(_ verify: Bool) { verification.set(verify) }

    /// Lets what keys sign not hold.
    func breakProofs(_ broken: Bool = true) { brokenProofs.set(broken) }

    func unlock(_ reference: KeyReference, pin: PIN?) async throws -> any UnlockedKey {
        try await opening.value?()
        let key = try await real.unlock(reference, pin: pin)
        return WatchedKey(real: key, verifiesUser: verification.value ?? key.verifiesUser, action: state) {
            [proofs, brokenProofs] in
            if brokenProofs.value { throw CustodyError(.unavailable, "it does not hold") }
            try key.prove()
            _ = proofs.next()
        }
    }

    func isSame(_ one: [UInt8], as other: [UInt8], of name: EnrollmentID) -> Bool {
        real.isSame(one, as: other, of: name)
    }

    private struct WatchedKey: UnlockedKey {
        let real: any UnlockedKey
        let verifiesUser: Bool
        let action: Box<(@Sendable () async throws -> Void)?>
        let proof: @Sendable () throws -> Void

        var publicKey: PublicKey { real.publicKey }

        func prove() throws { try proof() }

        func signature(for permit: SigningPermit) async throws -> [UInt8] {
            try await action.value?()
            return try await real.signature(for: permit)
        }
    }

    func makeKey(of name: EnrollmentID, algorithm: SignatureAlgorithm, pin: PIN?) async throws -> MadeKey {
        try await making.value?()
        return try await real.makeKey(of: name, algorithm: algorithm, pin: pin)
    }

    func changePIN(of key: KeyReference, from old: PIN, to new: PIN) async throws -> [UInt8] {
        try await opening.value?()
        return try await real.changePIN(of: key, from: old, to: new)
    }

    func verify(_ key: KeyReference) async throws(CustodyError) { try await real.verify(key) }
}

/// Counts how often the row of an enrollment is looked at; a change looks at the row that it writes, which is not counted.
struct CountingSeals: RowSeals {
    let real: any RowSeals
    let looks = Box(0)
    /// How often a whole row was read.
    let reads = Box(0)

    init(_ real: any RowSeals) { self.real = real }

    func seal(_ bytes: [UInt8]) throws -> [UInt8] {
        looks.change { $0 -= 1 }
        return try real.seal(bytes)
    }

    func seal(rowKey key: DataKey) throws -> [UInt8] { try real.seal(rowKey: key) }

    func openRowKey(_ sealed: [UInt8]) throws -> DataKey { try real.openRowKey(sealed) }

    func isSeal(_ seal: [UInt8], of bytes: [UInt8]) throws -> Bool {
        _ = looks.next()
        _ = reads.next()
        return try real.isSeal(seal, of: bytes)
    }
}

/// A store whose disk can be made to fail: what was written in a failing write is rolled back, as the real one does.
struct BreakableStore: Store {
    let real: any Store
    private let writing = Box<StoreError?>(nil)
    private let reading = Box<StoreError?>(nil)
    private let reserve = Box<(isKept: Bool, hasRoom: Bool)?>(nil)
    private let scrubbing = Box<(any Error)?>(nil)
    private let action = Box<(@Sendable () async throws -> Void)?>(nil)
    private let readAction = Box<(@Sendable () async throws -> Void)?>(nil)
    private let lastAction = Box<(@Sendable (StoreTransaction) -> Void)?>(nil)

    init(_ real: any Store) { self.real = real }

    func breakWrites(_ broken: Bool = true, by kind: StoreError.Kind = .io) {
        writing.set(broken ? StoreError(kind, at: "the test's store") : nil)
    }

    /// Sets whether there is a reserve; if not, whether there is room for one decides whether it can be kept.
    func setReserve(_ isKept: Bool, hasRoom: Bool = true) { reserve.set((isKept, hasRoom)) }

    func giveUpReserve() async -> Bool {
        let wasKept = reserve.change { reserve in
            defer { reserve?.isKept = false }
            return reserve?.isKept
        }
        if wasKept == true { breakWrites(false) }
        return wasKept != nil
    }

    func keepReserve() async throws {
        let isKept = reserve.change { reserve in
            if reserve?.hasRoom == true { reserve?.isKept = true }
            return reserve?.isKept ?? true
        }
        if !isKept { throw StoreError(.full, at: "the test's store") }
    }

    func breakReads(_ broken: Bool = true, by kind: StoreError.Kind = .io) {
        reading.set(broken ? StoreError(kind, at: "the test's store") : nil)
    }

    func breakScrub(by error: (any Error)?) { scrubbing.set(error) }

    /// Called before each write begins, until another is set.
    func beforeWriting(_ action: (@Sendable () async throws -> Void)?) { self.action.set(action) }

    /// Called in each write before it is committed.
    func beforeCommitting(_ action: @escaping @Sendable (StoreTransaction) -> Void) { lastAction.set(action) }

    /// Called before each read begins; what it throws is what the read fails with.
    func beforeReading(_ action: @escaping @Sendable () async throws -> Void) { readAction.set(action) }

    func read<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T {
        try await readAction.value?()
        if let trouble = reading.value { throw trouble }
        return try await real.read(body)
    }

    func survey<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T {
        try await readAction.value?()
        if let trouble = reading.value { throw trouble }
        return try await real.survey(body)
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T {
        try await action.value?()
        return try await real.write { [writing, lastAction] store in
            let result = try body(store)
            lastAction.value?(store)
            if let trouble = writing.value { throw trouble }
            return result
        }
    }

    func scrub() async throws {
        if let error = scrubbing.value { throw error }
        try await real.scrub()
    }

    func emptyLog() async throws -> Bool {
        if let error = scrubbing.value { throw error }
        return try await real.emptyLog()
    }
}

/// A value that tests share with what they test.
final class Box<Value: Sendable>: Sendable {
    private let content: Mutex<Value>

    init(_ value: Value) { content = Mutex(value) }

    var value: Value { content.withLock { $0 } }

    func set(_ value: Value) { content.withLock { $0 = value } }

    /// Changes the value, and says what the change gave.
    @discardableResult
    func change<Result: Sendable>(_ change: (inout sending Value) -> Result) -> Result {
        content.withLock { value in change(&value) }
    }
}

/// Why a sample could not be made; a fault of the test.
struct SampleError: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

extension Box where Value: BinaryInteger {
    /// Counts up, and says how many it is now.
    func next() -> Value {
        change { count in
            count += 1
            return count
        }
    }
}

/// What an agent logs.
struct WrittenLog: LogHandler {
    let lines = Box<[(level: Logger.Level, text: String)]>([])
    /// The metadata of each line.
    let facts = Box<[Logger.Metadata]>([])
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    var logger: Logger { Logger(label: "test") { _ in self } }

    /// The lines of one level.
    func lines(_ level: Logger.Level) -> [String] { lines.value.filter { $0.level == level }.map(\.text) }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.change { $0.append((event.level, "\(event.message)")) }
        facts.change { $0.append(event.metadata ?? [:]) }
    }
}
