import FoundationEssentials
import IssuerProtocol
import Keys
import Records
import ScratchDirectories
import Signing
import StoreTables
import Synchronization
import TestStores

/// The process died here; nothing it does after that counts.
struct Died: Error {}

/// The store in SQLite, with a process that can die around a commit.
struct CrashableStore: Store {
    private struct State {
        var crash: Crash?
        var hasDied = false
    }

    private final class Shared: Sendable {
        let state = Mutex(State())
    }

    let real: any Store
    private let shared = Shared()

    /// - Parameter host: the name of the host, in PostgreSQL.
    init(path: String, host: String) throws { real = try openStore(at: path, host: host) }

    /// The next write is the last that this process tries.
    func arm(_ crash: Crash?) { shared.state.withLock { $0.crash = crash } }

    var hasDied: Bool { shared.state.withLock { $0.hasDied } }

    func read<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T {
        guard !hasDied else { throw Died() }
        return try await real.read(body)
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T {
        guard !hasDied else { throw Died() }
        let result = try await real.write { [self] store in
            let result = try body(store)
            try die(at: .beforeCommit)
            return result
        }
        try die(at: .afterCommit)
        return result
    }

    func scrub() async throws { try await real.scrub() }

    func emptyLog() async throws -> Bool { try await real.emptyLog() }

    private func die(at moment: Crash) throws {
        let dies = shared.state.withLock { state in
            guard state.crash == moment else { return false }
            state = State(crash: nil, hasDied: true)
            return true
        }
        if dies { throw Died() }
    }
}

/// Keys in memory, and something that may happen while one is at work.
final class QuickCustody: KeyCustody {
    struct NoSuchKeyError: Error {}

    private let keys: [EnrollmentID: SigningKey]
    private let whileSigning = Mutex<(@Sendable () async throws -> Void)?>(nil)

    init(keys: [EnrollmentID: SigningKey]) { self.keys = keys }

    /// Done once, when the next signature is asked for.
    func whileSigning(_ action: (@Sendable () async throws -> Void)?) { whileSigning.withLock { $0 = action } }

    func unlock(_ reference: KeyReference, pin: PIN?) async throws -> any UnlockedKey {
        guard let key = keys[reference.enrollment] else { throw NoSuchKeyError() }
        return QuickKey(custody: self, key: key)
    }

    private struct QuickKey: UnlockedKey {
        let custody: QuickCustody
        let key: SigningKey
        let verifiesUser = false
        var publicKey: PublicKey { key.publicKey }

        func prove() throws {}

        func signature(for permit: SigningPermit) async throws -> [UInt8] {
            let action = custody.whileSigning.withLock { action in
                defer { action = nil }
                return action
            }
            try await action?()
            return try key.signature(over: permit.bytes)
        }
    }

    func makeKey(of name: EnrollmentID, algorithm: SignatureAlgorithm, pin: PIN?) async throws -> MadeKey {
        throw NoSuchKeyError()
    }

    func changePIN(of key: KeyReference, from old: PIN, to new: PIN) async throws -> [UInt8] { throw NoSuchKeyError() }

    func verify(_ key: KeyReference) async throws(CustodyError) {
        guard keys[key.enrollment] != nil else { throw CustodyError(.unavailable, "there is no such key") }
    }
}

/// Rings when something has changed that one waits for; nothing here waits by the clock.
final class ChangeNotifier: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func ring() { continuation.yield() }

    /// Looks now and after every ring until it holds; throws if the task is cancelled first.
    func until(isolation: isolated (any Actor)? = #isolation, _ holds: () async throws -> Bool) async throws {
        if try await holds() { return }
        for await _ in stream {
            if try await holds() { return }
        }
        throw CancellationError()
    }
}

extension ScratchDirectory {
    /// One in memory if the system has such a place.
    static func inMemory() throws -> ScratchDirectory {
        guard FileManager.default.isWritableFile(atPath: "/dev/shm") else { return try ScratchDirectory() }
        return try ScratchDirectory(in: URL(filePath: "/dev/shm"))
    }
}
