package import StrictJSON
import Synchronization

/// One call as it was on the wire, redacted, or one run of a command of the tested side.
package struct Exchange: Sendable {
    /// Longer bodies are cut in a report.
    static let maxShown = 8_192

    /// `POST http://localhost:8090/v1/enrollments`, or the command.
    package let sent: String
    /// The body or the input; empty if there was none.
    package let sentBody: String
    /// `HTTP 422`, `exit 1`, or why there is no answer.
    package let received: String
    package let receivedBody: String
    package let milliseconds: Int

    package var json: JSONValue {
        [
            "sent": .string(sent), "sentBody": .string(sentBody), "received": .string(received),
            "receivedBody": .string(receivedBody), "milliseconds": .integer(Int64(milliseconds)),
        ]
    }

    /// A body as it may be shown: no access token and no enrollment code, no control characters, and not too long.
    static func shown(_ body: [UInt8]) -> String {
        let text: String
        if let value = try? JSONReader.value(body, limits: JSONLimits(maxBytes: 4 * 1_048_576, maxValues: 100_000)) {
            text = String(decoding: value.redacted.serialized(), as: UTF8.self)
        } else {
            text = String(decoding: body, as: UTF8.self)
        }
        let escaped = ReportText.of(String(text.prefix(maxShown)))
        return text.count > maxShown ? "\(escaped) … (\(body.count) bytes)" : escaped
    }
}

extension JSONValue {
    private static let secrets: Set<String> = ["accessToken", "enrollmentCode", "code", "auth", "pin", "link"]

    /// The same with the secrets' values replaced.
    fileprivate var redacted: JSONValue {
        switch self {
        case .array(let elements): .array(elements.map(\.redacted))
        case .object(let object):
            .object(
                JSONObject(
                    object.members.map { member in
                        if case .string = member.value, Self.secrets.contains(member.name) {
                            JSONObject.Member(name: member.name, value: "(redacted)")
                        } else {
                            JSONObject.Member(name: member.name, value: member.value.redacted)
                        }
                    }))
        default: self
        }
    }
}

/// What one case sent and received, in order.
package final class Trace: Sendable {
    /// The first exchanges are dropped past it.
    private static let limit = 400

    private let kept = Mutex<[Exchange]>([])

    package init() {}

    package var exchanges: [Exchange] { kept.withLock { $0 } }

    func add(_ exchange: Exchange) {
        kept.withLock { kept in
            if kept.count == Self.limit { kept.removeFirst() }
            kept.append(exchange)
        }
    }
}
