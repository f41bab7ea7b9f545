import D1
import Foundation
import ServedSandbox
import Synchronization
import Testing

/// What a test's app has: an issuer, a directory of its own, and a payer with a PIN.
@MainActor
struct TestApp: Sendable {
    nonisolated static let pin = "4831"

    let issuer: TestIssuer
    let directory: String
    /// What is entered where the PIN is asked for; nil: the payer goes away.
    let entered: Entered

    /// Something that a test changes while the app runs.
    final class Entered: Sendable {
        private let kept = Mutex<String?>(TestApp.pin)
        var pin: String? {
            get { kept.withLock(\.self) }
            set { kept.withLock { $0 = newValue } }
        }

        private let shown = Mutex<[String]>([])
        /// The sentences that stood where the PIN was asked for.
        var prompts: [String] { shown.withLock(\.self) }

        func note(_ prompt: String) { shown.withLock { $0.append(prompt) } }
    }

    /// Runs `body` with an app at a sandbox.
    static func run(_ body: (TestApp) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "d1-\(UUID().uuidString)").path()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await TestIssuer.run { issuer in
            try await body(TestApp(issuer: issuer, directory: directory, entered: Entered()))
        }
    }

    var components: D1Task.Components {
        var components = D1Task.Components()
        components.d1ServiceURLString = issuer.url
        components.stateDirectory = directory
        components.enrollmentCode = { [issuer] in try await issuer.enrollmentCode() }
        components.pin = { [entered] prompt in
            entered.note(prompt)
            return entered.pin
        }
        return components
    }

    /// Runs `body` with a task that works, and closes it.
    func configured(
        _ change: (inout D1Task.Components) -> Void = { _ in }, _ body: (D1Task) async throws -> Void
    ) async throws {
        var components = components
        change(&components)
        let task = components.task()
        let result: Result<Void, any Error>
        do {
            try await task.configure([.coreConfig(consumerID: "consumer-1")])
            result = .success(try await body(task))
        } catch {
            result = .failure(error)
        }
        await task.close()
        try result.get()
    }

    /// Runs `body` with an enrolled authenticator, whose delegate is `payer`.
    static func enrolled(
        asking payer: Payer, _ change: (inout D1Task.Components) -> Void = { _ in },
        _ body: (TestApp, D1Authn) async throws -> Void
    ) async throws {
        try await run { app in
            try await app.configured(change) { task in
                let authn = try #require(task.d1Authn(payer))
                try await authn.enrollAuthnCredentials(.platform)
                try await body(app, authn)
            }
        }
    }
}

/// A delegate that keeps what it is asked and does what a test says.
@MainActor
final class Payer: AuthnDelegate {
    typealias Handler = @Sendable () -> Void

    private(set) var questions: [[String: String]] = []
    private let react: @MainActor (_ proceed: @escaping Handler, _ cancel: @escaping Handler) -> Void

    init(_ react: @escaping @MainActor (_ proceed: @escaping Handler, _ cancel: @escaping Handler) -> Void) {
        self.react = react
    }

    static var approving: Payer { Payer { proceed, _ in proceed() } }
    static var cancelling: Payer { Payer { _, cancel in cancel() } }

    func authn(
        _ authn: D1Authn, shouldConfirmTransactionData transactionData: [String: String],
        proceedHandler: @escaping Handler, cancelHandler: @escaping Handler
    ) {
        MainActor.assertIsolated()
        questions.append(transactionData)
        react(proceedHandler, cancelHandler)
    }

    func authnTouchIDOperationPrompt(_ authn: D1Authn) -> String {
        MainActor.assertIsolated()
        return "Confirm the payment"
    }
}

/// A payer who looks at the question and leaves it open, until a test answers.
@MainActor
final class SlowPayer {
    private(set) var handlers: [(proceed: Payer.Handler, cancel: Payer.Handler)] = []
    /// How many of them have been waited for.
    private var taken = 0
    private let notifier = AsyncStream.makeStream(of: Void.self)

    lazy var delegate = Payer { [weak self] proceed, cancel in
        self?.handlers.append((proceed, cancel))
        self?.notifier.continuation.yield()
    }

    /// Waits for the next question.
    func asked() async throws -> (proceed: Payer.Handler, cancel: Payer.Handler) {
        try #require(await askedOrWoken())
    }

    /// As ``asked()``; nil where no question comes, and someone said so.
    func askedOrWoken() async -> (proceed: Payer.Handler, cancel: Payer.Handler)? {
        for await _ in notifier.stream { break }
        defer { taken = handlers.count }
        return handlers.count > taken ? handlers.last : nil
    }

    func wake() { notifier.continuation.yield() }
}

/// The error that a call ends with.
@MainActor
func error(of call: () async throws(D1Error) -> Void) async -> D1Error? {
    do throws(D1Error) {
        try await call()
        return nil
    } catch {
        return error
    }
}
