@testable import Authenticator

extension SampleAgent {
    var bookTrouble: BookTrouble? { ports.bookHealth.trouble }

    /// Waits until someone has found that the book is in trouble.
    func bookIsInTrouble() async throws {
        let changes = ports.bookHealth.changes()
        if bookTrouble != nil { return }
        for await _ in changes where bookTrouble != nil { return }
        throw CancellationError()
    }

    /// Waits until someone has found that the book is in trouble, lets time pass, and ends the trouble as the watch does.
    func bookIsMended(after seconds: Double = 0) async throws {
        try await bookIsInTrouble()
        clock.advance(by: seconds)
        book.breakWrites(false)
        book.breakReads(false)
        ports.bookHealth.noteWritten()
    }
}
