/// A sequence with an element for each ring; rings that were not consumed yet are merged.
package struct EventNotifier: AsyncSequence, Sendable {
    let stream: AsyncStream<Void>
    package let continuation: AsyncStream<Void>.Continuation

    package init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    package func makeAsyncIterator() -> AsyncStream<Void>.AsyncIterator { stream.makeAsyncIterator() }

    /// Rings without an event.
    package func wake() { continuation.yield() }
}
