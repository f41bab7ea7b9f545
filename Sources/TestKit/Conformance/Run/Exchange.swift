import Synchronization

/// An HTTP call, or a run of a command of the tested side.
///
/// It is kept as received, with its secrets. ``RunOutcome`` removes them once all of them are known.
package struct Exchange: Sendable {
    /// The limit of a body, in bytes; the rest is not kept.
    package static let maxBody = 8_192
    /// The limit of each other text, in bytes.
    package static let maxLine = 1_024

    /// The call, such as `POST http://localhost:8090/v1/enrollments`, or the name of the command.
    let sent: Excerpt
    /// The body or the input; empty if there was none.
    let sentBody: Excerpt
    /// The status, `HTTP 422` or `exit 1`, or the reason why an answer is missing.
    let received: Excerpt
    let receivedBody: Excerpt
    let milliseconds: Int

    init(sent: String, sentBody: [UInt8], received: String, receivedBody: [UInt8], milliseconds: Int) {
        self.sent = Excerpt(sent, limit: Self.maxLine)
        self.sentBody = Excerpt(sentBody)
        self.received = Excerpt(received, limit: Self.maxLine)
        self.receivedBody = Excerpt(receivedBody)
        self.milliseconds = milliseconds
    }

    /// The size in bytes, before escaping.
    var bytes: Int { [sent, sentBody, received, receivedBody].reduce(128) { $0 + $1.text.utf8.count } }
}

/// The last exchanges of one case that fit, in order.
package struct KeptExchanges: Sendable {
    package private(set) var all: [Exchange] = []
    /// The number of earlier exchanges that are not kept.
    package private(set) var leftOut = 0
    private var bytes = 0

    package init() {}

    mutating func add(_ exchange: Exchange) {
        all.append(exchange)
        bytes += exchange.bytes
    }

    /// Drops the first exchanges until the rest has at most `limit` bytes.
    mutating func trim(to limit: Int) {
        var count = 0
        while bytes > limit, count < all.count {
            bytes -= all[count].bytes
            count += 1
        }
        all.removeFirst(count)
        leftOut += count
    }

    package var totalBytes: Int { bytes }
}

/// A recorder of one case's exchanges.
package final class Trace: Sendable {
    /// The limit of the exchanges of a case, in bytes.
    package static let limit = 262_144

    private let limit: Int
    private let kept = Mutex(KeptExchanges())

    package init(limit: Int = Trace.limit) { self.limit = limit }

    package var exchanges: KeptExchanges { kept.withLock { $0 } }

    func add(_ exchange: Exchange) {
        kept.withLock { kept in
            kept.add(exchange)
            kept.trim(to: limit)
        }
    }

    /// Replaces its exchanges with those of another trace.
    func replace(_ exchanges: KeptExchanges) { kept.withLock { $0 = exchanges } }
}
