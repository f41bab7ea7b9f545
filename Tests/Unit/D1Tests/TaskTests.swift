import D1
import Foundation
import Testing

@MainActor
@Suite(.timeLimit(.minutes(20)))
struct TaskTests {
    @Test func `before configure every call is answered with 60001`() async throws {
        try await TestApp.run { app in
            let payer = Payer.approving
            let task = app.components.task()
            let authn = try #require(task.d1Authn(payer))
            let fetched = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            let pushed = await error { () throws(D1Error) in try await task.updatePushToken("http://localhost:1") }
            #expect([fetched, pushed].map { $0?.code.rawValue } == [60001, 60001])
            #expect(authn.enrolledAuthnType() == nil)
            #expect(!FileManager.default.fileExists(atPath: app.directory))
        }
    }

    @Test func `after close every call is answered with 60001, and there is no more D1Authn`() async throws {
        try await TestApp.enrolled(asking: Payer.approving) { app, _ in
            // Another directory, for this one is taken.
            let task = { () -> D1Task in
                var components = app.components
                components.stateDirectory = app.directory + "/other"
                return components.task()
            }()
            try await task.configure()
            let payer = Payer.approving
            let authn = try #require(task.d1Authn(payer))
            await task.close()
            let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(ended?.cause?.name == "closed")
            let configured = await error { () throws(D1Error) in try await task.configure() }
            #expect(configured?.code == .notInitialized)
            #expect(task.d1Authn(payer) == nil)
            await task.close()
        }
    }

    @Test func `close ends a question that is open; the next start has the request and the enrollment`() async throws {
        try await TestApp.run { app in
            let payer = SlowPayer()
            var purchase = ""
            try await app.configured { task in
                let authn = try #require(task.d1Authn(payer.delegate))
                try await authn.enrollAuthnCredentials(.platform)
                purchase = try await app.issuer.purchase()
                let fetch = Task { await error { () throws(D1Error) in try await authn.fetchAuthnRequest() } }
                _ = try await payer.asked()
                await task.close()
                #expect(await fetch.value?.code == .cancelled)
            }
            try await app.configured { task in
                let approving = Payer.approving
                let authn = try #require(task.d1Authn(approving))
                #expect(authn.enrolledAuthnType() == .platform)
                try await authn.fetchAuthnRequest()
                #expect(try await app.issuer.status(purchase) == "authenticated")
            }
        }
    }

    @Test func `a state directory has one D1Task at a time`() async throws {
        try await TestApp.run { app in
            try await app.configured { _ in
                let second = app.components.task()
                let ended = await error { () throws(D1Error) in try await second.configure() }
                #expect(ended?.code.rawValue == 20001)
                #expect(ended?.errorDescription?.contains(app.directory) == true)
            }
            // It was given back, and a task that could not be configured can be later.
            try await app.configured { _ in }
        }
    }

    @Test func `a task that is let go gives its directory back`() async throws {
        try await TestApp.run { app in
            do {
                let task = app.components.task()
                try await task.configure()
            }
            let next = app.components.task()
            while await error(of: { () throws(D1Error) in try await next.configure() }) != nil, !Task.isCancelled {
                await Task.yield()
            }
            await next.close()
        }
    }

    @Test func `two tasks with directories of their own know nothing of each other`() async throws {
        try await TestApp.enrolled(asking: Payer.approving) { app, authn in
            var components = app.components
            components.stateDirectory = app.directory + "-2"
            let other = components.task()
            try await other.configure()
            let payer = Payer.approving
            let otherAuthn = try #require(other.d1Authn(payer))
            #expect(otherAuthn.enrolledAuthnType() == nil)
            try await otherAuthn.enrollAuthnCredentials(.platform)
            // The sandbox asks the authenticator that was enrolled last.
            let purchase = try await app.issuer.purchase()
            let ended = await error { () throws(D1Error) in try await authn.fetchAuthnRequest() }
            #expect(ended?.cause?.name == "noRequest")
            try await otherAuthn.fetchAuthnRequest()
            #expect(try await app.issuer.status(purchase) == "authenticated")
            await other.close()
            try FileManager.default.removeItem(atPath: app.directory + "-2")
        }
    }

    @Test func `settings out of order are invalid arguments that name the member`() async throws {
        let changes: [(String, @Sendable (inout D1Task.Components) -> Void)] = [
            ("d1ServiceURLString", { $0.d1ServiceURLString = nil }),
            ("d1ServiceURLString", { $0.d1ServiceURLString = "http://bank.example" }),
            ("stateDirectory", { $0.stateDirectory = nil }),
            ("stateDirectory", { $0.stateDirectory = "relative/path" }),
        ]
        try await TestApp.run { app in
            for (member, change) in changes {
                var components = app.components
                change(&components)
                let task = components.task()
                let ended = await error { () throws(D1Error) in try await task.configure() }
                #expect(ended?.code == .invalidArgument)
                #expect(ended?.cause?.message.hasPrefix(member) == true, "\(String(describing: ended))")
            }
            let task = app.components.task()
            for params: Set<ConfigParams> in [
                [.coreConfig(consumerID: "")], [.coreConfig(consumerID: "a"), .coreConfig(consumerID: "b")],
            ] {
                let ended = await error { () throws(D1Error) in try await task.configure(params) }
                #expect(ended?.code == .invalidArgument)
            }
        }
    }

    @Test func `another secret than the one that the state was made with is an error`() async throws {
        try await TestApp.run { app in
            try await app.configured { task in
                let payer = Payer.approving
                try await task.d1Authn(payer)?.enrollAuthnCredentials(.platform)
            }
            let secret = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
            let bytes = Data(repeating: 7, count: 32)
            try #require(
                FileManager.default.createFile(
                    atPath: secret, contents: bytes, attributes: [.posixPermissions: 0o600]))
            defer { try? FileManager.default.removeItem(atPath: secret) }
            var components = app.components
            components.secretFile = secret
            let task = components.task()
            let ended = await error { () throws(D1Error) in try await task.configure() }
            #expect(ended?.cause?.name == "wrongSecret")
            // The same task can be configured once its secret is the right one.
            try FileManager.default.removeItem(atPath: secret)
            try FileManager.default.copyItem(atPath: app.directory + "/secret", toPath: secret)
            try await task.configure()
            await task.close()
        }
    }

    @Test func `a state that cannot be used is an error, and the directory can be tried again at once`() async throws {
        try await TestApp.run { app in
            let secret = app.directory + "/short"
            try FileManager.default.createDirectory(
                atPath: app.directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            try #require(
                FileManager.default.createFile(
                    atPath: secret, contents: Data([1, 2, 3]), attributes: [.posixPermissions: 0o600]))
            var components = app.components
            components.secretFile = secret
            let task = components.task()
            let ended = await error { () throws(D1Error) in try await task.configure() }
            #expect(ended?.code == .core)
            try await app.configured { _ in }
        }
    }

    @Test func `configure may be called again, and at the same time`() async throws {
        try await TestApp.run { app in
            let task = app.components.task()
            async let first: Void = task.configure()
            async let second: Void = task.configure()
            _ = try await (first, second)
            try await task.configure()
            await task.close()
        }
    }
}
