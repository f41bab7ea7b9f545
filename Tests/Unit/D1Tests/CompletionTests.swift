import D1
import Foundation
import Testing

/// The forms with completion handlers.
@MainActor
@Suite(.timeLimit(.minutes(20)))
struct CompletionTests {
    /// What a completion handler was told, each time that it was called.
    @MainActor
    private final class Told {
        private(set) var errors: [D1Error?] = []
        private let notifier = AsyncStream.makeStream(of: Void.self)

        func tell(_ error: D1Error?) {
            MainActor.assertIsolated()
            errors.append(error)
            notifier.continuation.yield()
        }

        func next() async -> D1Error? {
            for await _ in notifier.stream { break }
            return errors.last ?? nil
        }
    }

    @Test func `each form tells its handler once, on the main actor`() async throws {
        try await TestApp.run { app in
            let (told, payer) = (Told(), Payer.approving)
            let task = app.components.task()
            task.configure([.coreConfig(consumerID: "consumer-1")]) { told.tell($0?.first) }
            #expect(await told.next() == nil)
            let authn = try #require(task.d1Authn(payer))
            authn.enrollAuthnCredentials(.platform) { told.tell($0) }
            #expect(await told.next() == nil)
            try await app.issuer.purchase()
            authn.fetchAuthnRequest { told.tell($0) }
            #expect(await told.next() == nil)
            authn.fetchAuthnRequest { told.tell($0) }
            #expect(await told.next()?.cause?.name == "noRequest")
            task.updatePushToken("ftp://no") { told.tell($0) }
            #expect(await told.next()?.code == .invalidArgument)
            task.processNotification(["aps": ["alert": "hello"]]) { answer, error in
                #expect(answer?[.messageType] == PushResponse.typeUnknown)
                told.tell(error)
            }
            #expect(await told.next() == nil)
            authn.unenrollAuthnCredentials { told.tell($0) }
            #expect(await told.next() == nil)
            await task.close()
            #expect(told.errors.count == 7)
        }
    }

    @Test func `a handler is told also after close`() async throws {
        try await TestApp.run { app in
            let (told, payer) = (Told(), Payer.approving)
            let task = app.components.task()
            let authn = try #require(task.d1Authn(payer))
            await task.close()
            authn.fetchAuthnRequest { told.tell($0) }
            #expect(await told.next()?.cause?.name == "closed")
            task.configure([]) { told.tell($0?.first) }
            #expect(await told.next()?.cause?.name == "closed")
        }
    }

    @Test func `what goes wrong in configure comes as a list`() async throws {
        try await TestApp.run { app in
            let told = Told()
            var components = app.components
            components.stateDirectory = "/proc/no/such"
            components.task().configure([]) { errors in
                #expect(errors?.count == 1)
                told.tell(errors?.first)
            }
            #expect(await told.next()?.code == .core)
        }
    }
}
