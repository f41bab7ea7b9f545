import Journal
import Records
import StoreTables

extension Decider {
    /// Ends the delivery of a decision that was committed late, if another host delivers for its enrollment.
    ///
    /// If the other host has already sent the decision, it stays sent. This host ends its own deliveries in the usual
    /// way.
    func endLate(_ decided: DecidedRequest) async throws {
        guard !ports.isOurs(decided.enrollment.id) else { return }
        try await ports.store.write { store in
            let waiting = try store.outbox(enrollment: decided.enrollment.id)
            guard let entry = waiting.first(where: { $0.requestId == decided.request.id }) else { return }
            try store.record(.deliveryFailed(entry, token: DeliveryState.decidedLate), at: ports.clock.now)
            try store.endDelivery(
                of: entry, as: .failed(token: DeliveryState.decidedLate), error: entry.lastError)
        }
    }
}
