/// What happened: an event of `GET /v1/events`, and a line of `watch --json`.
///
/// A member without a value is left out.
package struct EventView: Codable, Sendable, Equatable {
    /// Such as `requestPresented`; `gap` if events before it are no longer kept.
    package var event: String
    /// Grows with each event of its host, with holes.
    package var seq: Int64
    /// In whose chain it is; nil if there is one.
    package var host: String?
    /// What came after it is asked for with this as `since`; nil if `seq` does for that, as there is one chain.
    package var cursor: String?
    /// RFC 3339, UTC.
    package var at: String
    package var enrollmentId: String?
    /// The request that it is about, as it is when the event is read.
    package var request: RequestView?

    package init(event: String, seq: Int64, at: String, enrollmentId: String? = nil, request: RequestView? = nil) {
        self.event = event
        self.seq = seq
        self.at = at
        self.enrollmentId = enrollmentId
        self.request = request
    }
}

extension EventView {
    /// What the event came to, for people: `approved`, `denied (suspectedFraud)`, why it was refused or not delivered.
    ///
    /// Nil for an event that is no outcome.
    package var outcome: String? {
        guard let request else { return nil }
        func joined(_ parts: String?...) -> String? {
            let there = parts.compactMap(\.self)
            return there.isEmpty ? nil : there.joined(separator: ": ")
        }
        let decision: String? =
            switch request.state {
            case .approved: "approved"
            case .denied: "denied" + (request.reason.map { " (\($0))" } ?? "")
            default: nil
            }
        switch event {
        case "requestDecided": return decision
        case "requestDelivered": return joined(decision, request.transStatus.map { "transStatus \($0)" })
        case "requestDeliveryFailed": return joined(decision, request.deliveryFailure, request.deliveryError)
        case "requestRefused": return joined("refused", request.refusal)
        default: return nil
        }
    }
}

/// Server-sent events, as `GET /v1/events` has them (HTML Standard §9.2): one line of `id` and one of `data` each.
package enum ServerSentEvents {
    package static let contentType = "text/event-stream"
    package static let lastEventID = "Last-Event-ID"
    /// The seconds after which an agent that has nothing to tell says that it is still there.
    package static let heartbeat = 15

    /// - Parameter data: one line of JSON.
    package static func event(_ cursor: String, _ data: [UInt8]) -> [UInt8] {
        Array("id: \(cursor)\ndata: ".utf8) + data + Array("\n\n".utf8)
    }

    /// No event, but how far all was told.
    package static func position(_ cursor: String) -> [UInt8] { Array("id: \(cursor)\n\n".utf8) }

    /// Nothing at all.
    package static let stillThere = Array(":\n\n".utf8)
}
