import Synchronization

/// Rings when something has changed that one waits for; nothing here waits by the clock.
final class ChangeNotifier: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func ring() { continuation.yield() }

    /// Looks now and after every ring until it holds; throws where the task is cancelled first.
    func until(isolation: isolated (any Actor)? = #isolation, _ holds: () async throws -> Bool) async throws {
        if try await holds() { return }
        for await _ in stream {
            if try await holds() { return }
        }
        throw CancellationError()
    }
}
