/// Rings after events; a ring that nobody has taken yet is not repeated.
package struct EventNotifier: AsyncSequence, Sendable {
    let stream: AsyncStream<Void>
    package let continuation: AsyncStream<Void>.Continuation

    package init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    package func makeAsyncIterator() -> AsyncStream<Void>.AsyncIterator { stream.makeAsyncIterator() }

    /// Rings though nothing has happened.
    package func ring() { continuation.yield() }
}
