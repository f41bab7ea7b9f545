import Foundation
import Synchronization
public import Testing

/// Starts both programs before the suite's first test, and stops them after its last.
///
/// If a test fails, the messages of its purchases are printed on standard error.
public struct OutOfBandTrait: SuiteTrait, TestTrait, TestScoping {
    /// Whether tests of the suite get a scope too: each of them has one of its own.
    public var isRecursive: Bool { true }

    /// Returns a provider for the suite itself too, which a recursive trait does not have by default.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> OutOfBandTrait? {
        test.isSuite || testCase != nil ? self : nil
    }

    /// Runs the suite with the programs, and each test so that a failure prints its purchases.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard test.isSuite else { return try await tellFailures(of: test, testCase, performing: function) }
        // A suite inside this suite uses the same programs.
        guard OutOfBand.running == nil else { return try await function() }
        let folder = "/tmp/oob-\(UUID().uuidString.split(separator: "-").first ?? "")"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let sandbox = try LongRunning("oob-issuer", ["serve", "--listen", "localhost:0", "--test-clock"])
        defer { sandbox.stop() }
        let agent = try LongRunning(
            "oob-agent",
            [
                "--state-dir", "\(folder)/state", "--socket", "\(folder)/control.sock", "--log-level", "error",
                "--test-clock",
            ])
        defer { agent.stop() }
        let running = OutOfBand(issuer: try await sandbox.address(), socket: try await agent.address())
        try await OutOfBand.$running.withValue(running, operation: function)
    }

    private func tellFailures(
        of test: Test, _ testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let ledger = PurchaseLedger()
        let noting = IssueHandlingTrait.compactMapIssues { issue in
            ledger.hasFailed()
            return issue
        }
        let result: Result<Void, any Error>
        do {
            try await PurchaseLedger.$current.withValue(ledger) {
                try await noting.provideScope(for: test, testCase: testCase, performing: function)
            }
            result = .success(())
        } catch {
            ledger.hasFailed()
            result = .failure(error)
        }
        for purchase in ledger.purchasesOfFailure {
            let story = (try? await purchase.story()) ?? "its messages are not known"
            try? FileHandle.standardError.write(
                contentsOf: Data("\(test.name): purchase \(purchase.acsTransId): \(ShownText.of(story))\n".utf8))
        }
        try result.get()
    }
}

extension Trait where Self == OutOfBandTrait {
    /// A trait that runs a sandbox issuer and an agent for the suite.
    public static var outOfBand: OutOfBandTrait { OutOfBandTrait() }
}

/// A record of one test's purchases.
final class PurchaseLedger: Sendable {
    @TaskLocal static var current: PurchaseLedger?

    private let state = Mutex((purchases: [Purchase](), isFailure: false))

    func add(_ purchase: Purchase) { state.withLock { $0.purchases.append(purchase) } }

    func hasFailed() { state.withLock { $0.isFailure = true } }

    /// The purchases; empty if the test has not failed.
    var purchasesOfFailure: [Purchase] { state.withLock { $0.isFailure ? $0.purchases : [] } }
}
