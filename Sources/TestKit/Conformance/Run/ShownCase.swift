package import StrictJSON

/// The outcome of a case for the report: without secrets and control characters, and cut to its share.
package struct ShownCase: Sendable {
    package let header: CaseHeader
    package let verdict: CaseOutcome.Verdict
    /// The cause; empty for a case that passed.
    package let cause: String
    package let milliseconds: Int
    package let exchanges: [ShownExchange]
    /// The number of earlier exchanges that are left out.
    package let leftOut: Int

    /// Whether this case fails the run.
    package var fails: Bool { verdict == .failed && header.level == .must }

    package var json: JSONObject {
        var json: JSONObject = [
            "name": .string(header.name), "title": .string(header.title), "section": .string(header.section),
            "statement": .string(header.statement), "level": .string(header.level.rawValue),
            "verdict": .string(verdict.rawValue), "milliseconds": .integer(Int64(milliseconds)),
        ]
        if !cause.isEmpty { json["cause"] = .string(cause) }
        guard verdict == .failed || verdict == .broken else { return json }
        json["exchanges"] = .array(exchanges.map(\.json))
        if leftOut > 0 { json["exchangesLeftOut"] = .integer(Int64(leftOut)) }
        return json
    }

    /// A sentence with the number of omitted exchanges; empty if there are none.
    var sentence: String {
        switch leftOut {
        case 0: ""
        case 1: "1 earlier exchange is left out."
        default: "\(leftOut) earlier exchanges are left out."
        }
    }

    /// Prepares cases so that each form of the report has at most `limit` bytes.
    ///
    /// The cases with exchanges share the room. The room that one case does not need is for the cases after it.
    static func all(_ cases: [CaseOutcome], without secrets: Redaction, limit: Int) -> [ShownCase] {
        let causes = cases.map { $0.cause.map { secrets.redacted($0).shown } ?? "" }
        let frames = zip(cases, causes).reduce(0) { $0 + frame(of: $1.0.header, cause: $1.1) }
        var left = limit - frames
        var waiting = cases.count { !$0.exchanges.all.isEmpty }
        return zip(cases, causes).map { one, cause in
            var (shown, room): ([ShownExchange], Int) = ([], waiting > 0 ? max(left, 0) / waiting : 0)
            for exchange in one.exchanges.all.reversed() {
                let next = ShownExchange(exchange, without: secrets)
                guard next.size <= room else { break }
                shown.append(next)
                room -= next.size
                left -= next.size
            }
            if !one.exchanges.all.isEmpty { waiting -= 1 }
            return ShownCase(
                header: one.header, verdict: one.verdict, cause: cause, milliseconds: one.milliseconds,
                exchanges: shown.reversed(),
                leftOut: one.exchanges.leftOut + one.exchanges.all.count - shown.count)
        }
    }

    /// Returns the largest size of a case in any form of the report, without its exchanges, in bytes.
    private static func frame(of header: CaseHeader, cause: String) -> Int {
        [header.name, header.name, header.title, header.statement, cause].reduce(1_000) {
            $0 + ShownExchange.size(of: $1)
        }
    }
}

/// An exchange for the report: without secrets and control characters.
package struct ShownExchange: Sendable {
    let sent: String
    let sentBody: String
    let received: String
    let receivedBody: String
    let milliseconds: Int

    init(_ exchange: Exchange, without secrets: Redaction) {
        sent = secrets.redacted(exchange.sent).shown
        sentBody = secrets.redacted(exchange.sentBody).shown
        received = secrets.redacted(exchange.received).shown
        receivedBody = secrets.redacted(exchange.receivedBody).shown
        milliseconds = exchange.milliseconds
    }

    var json: JSONValue {
        [
            "sent": .string(sent), "sentBody": .string(sentBody), "received": .string(received),
            "receivedBody": .string(receivedBody), "milliseconds": .integer(Int64(milliseconds)),
        ]
    }

    /// The largest size in any form of the report, in bytes.
    var size: Int { [sent, sentBody, received, receivedBody].reduce(200) { $0 + Self.size(of: $1) } }

    /// Returns the largest size of a text in any form: HTML and XML write `&quot;` for JSON's `\"`.
    static func size(of text: String) -> Int {
        text.utf8.reduce(0) { sum, byte in
            switch byte {
            case UInt8(ascii: "\""): sum + 6
            case UInt8(ascii: "&"), UInt8(ascii: "'"): sum + 5
            case UInt8(ascii: "<"), UInt8(ascii: ">"): sum + 4
            case UInt8(ascii: "\\"): sum + 2
            default: sum + 1
            }
        }
    }
}
