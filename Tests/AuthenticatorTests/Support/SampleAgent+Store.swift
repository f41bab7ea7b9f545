@testable import Authenticator

extension SampleAgent {
    var storeError: StoreError? { ports.storeHealth.trouble }

    /// Waits until someone has found that the store is in trouble.
    func storeFailed() async throws {
        let changes = ports.storeHealth.changes()
        if storeError != nil { return }
        for await _ in changes where storeError != nil { return }
        throw CancellationError()
    }

    /// Waits until someone has found that the store is in trouble, lets time pass, and ends the trouble as the watch does.
    func storeRecovered(after seconds: Double = 0) async throws {
        try await storeFailed()
        clock.advance(by: seconds)
        store.breakWrites(false)
        store.breakReads(false)
        ports.storeHealth.noteWritten()
    }
}
