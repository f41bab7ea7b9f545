import Synchronization

/// What happened, for whoever waits.
package enum AgentEvent: Sendable {
    case requestPresented(RequestID)
    case requestSuperseded(RequestID)
    case requestDecided(RequestID)
    case requestDelivered(RequestID)
    case requestDeliveryFailed(RequestID)
    case requestExpired(RequestID)
    case requestCancelled(RequestID)
    case requestRefused(RequestID)
    case requestDuplicate(RequestID)
    case requestConflict(EnrollmentID)
    case enrolled(EnrollmentID)
    case enrollmentFailed(EnrollmentID, reason: String)
    case unenrolled(EnrollmentID)
    case suspended(EnrollmentID)
    case resumed(EnrollmentID)
    /// Something waits in this enrollment's outbox.
    case outboxFilled(EnrollmentID)
    /// A new enrollment waits to be sent.
    case ceremonyStarted(EnrollmentID)
    /// The next instant at which something is to be looked at may have come nearer.
    case deadlineMoved
}

/// Tells everyone who listens what happened, after it is durable.
///
/// An event is a hint to look at the book, never the truth itself: a listener that falls behind by more than
/// `backlog` events loses the oldest and looks again.
package final class EventHub: Sendable {
    private struct State {
        var next = 0
        var listeners: [Int: AsyncStream<AgentEvent>.Continuation] = [:]
    }

    private static let backlog = 1_024
    private let state = Mutex(State())

    package init() {}

    /// Everything that is published after this call.
    package func listen() -> AsyncStream<AgentEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: AgentEvent.self, bufferingPolicy: .bufferingNewest(Self.backlog))
        let id = state.withLock { state in
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in _ = state.listeners.removeValue(forKey: id) }
        }
        return stream
    }

    package func publish(_ events: [AgentEvent]) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for event in events {
            for listener in listeners { listener.yield(event) }
        }
    }

    package func publish(_ event: AgentEvent) { publish([event]) }
}
