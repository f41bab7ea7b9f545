import Control
import HTTPTypes
import Hummingbird
import NIOCore
import PageServing
import ServiceLifecycle
import Synchronization

/// The number of windows with an event stream.
final class StreamCount: Sendable {
    private static let limit = 32
    private let count = Mutex(0)

    /// Takes a place until it is released, or returns `nil` if none is free.
    func acquire() -> Place? {
        count.withLock { count in
            guard count < Self.limit else { return nil }
            count += 1
            return Place(streams: self)
        }
    }

    final class Place: Sendable {
        private let streams: StreamCount

        fileprivate init(streams: StreamCount) { self.streams = streams }

        deinit { streams.count.withLock { $0 -= 1 } }
    }
}

/// The agent's events as a stream for a browser: the event and its request's ID, without other data.
struct EventRelay: Sendable {
    let agent: InboxAgent
    let place: StreamCount.Place
    /// Returns whether the window's session goes on; the stream itself does not prolong it.
    let hasSession: @Sendable () async -> Bool

    init(agent: InboxAgent, place: StreamCount.Place, hasSession: @escaping @Sendable () async -> Bool) {
        self.agent = agent
        self.place = place
        self.hasSession = hasSession
    }

    var response: Response {
        var fields = PageGuard.fields
        fields[.contentType] = ServerSentEvents.contentType
        return Response(
            status: .ok, headers: fields,
            body: .init { [self] writer in
                var writer = writer
                try await relay(to: &writer)
                try await writer.finish(nil)
            })
    }

    private func relay(to writer: inout any ResponseBodyWriter) async throws {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(256))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                // If the agent goes away, the stream ends; the browser reconnects by itself, and gets "here" once the
                // agent is back.
                defer { continuation.finish() }
                var position: CursorText?
                try? await agent.client().events(
                    after: &position, enrollment: nil, opened: { continuation.yield("event: here\ndata: {}\n\n") }
                ) { event throws(ClientError) in
                    let id = event.request?.id ?? ""
                    continuation.yield("data: {\"event\":\"\(event.event)\",\"request\":\"\(id)\"}\n\n")
                }
                continuation.yield("event: gone\ndata: {}\n\n")
            }
            // Only a failed write shows that the browser has gone, so a comment is written even without events.
            group.addTask {
                while await hasSession() {
                    try await Task.sleep(for: .seconds(5))
                    continuation.yield(":\n\n")
                }
                continuation.yield("event: over\ndata: {}\n\n")
                continuation.finish()
            }
            defer { group.cancelAll() }
            try await withGracefulShutdownHandler {
                for await line in lines { try await writer.write(ByteBuffer(string: line)) }
            } onGracefulShutdown: {
                continuation.finish()
            }
        }
    }
}
