/// An event: an item of `GET /v1/events`, and a line of `watch --json`.
///
/// A member without a value is left out.
package struct EventView: Codable, Sendable, Equatable {
    /// The kind of event, such as `requestPresented`.
    ///
    /// `gap` means that events before it are no longer kept.
    package var event: String
    /// The event's number.
    ///
    /// It grows with each event of its host, and some numbers are skipped.
    package var seq: Int64
    /// The host of the chain.
    ///
    /// `nil` if there is one chain.
    package var host: String?
    /// The value of `since` that asks for the events after this one.
    ///
    /// `nil` if there is one chain, because `seq` has this role.
    package var cursor: String?
    /// RFC 3339, UTC.
    package var at: String
    package var enrollmentId: String?
    /// The request of the event, in its state when the event is read.
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
    /// The outcome for people: `approved`, `denied (suspectedFraud)`, or the reason of a refusal or failed delivery.
    ///
    /// `nil` for an event that is not an outcome.
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

/// Server-sent events of `GET /v1/events` (HTML Standard §9.2): one line of `id` and one of `data` each.
package enum ServerSentEvents {
    package static let contentType = "text/event-stream"
    package static let lastEventID = "Last-Event-ID"
    /// The seconds after which an agent without events sends a sign of life.
    package static let heartbeat = 15

    /// - Parameter data: one line of JSON.
    package static func event(_ cursor: String, _ data: [UInt8]) -> [UInt8] {
        Array("id: \(cursor)\ndata: ".utf8) + data + Array("\n\n".utf8)
    }

    /// Returns a block without an event, which gives the position up to which all events were sent.
    package static func position(_ cursor: String) -> [UInt8] { Array("id: \(cursor)\n\n".utf8) }

    /// A comment line, which keeps the connection alive.
    package static let stillThere = Array(":\n\n".utf8)
}
