import Synchronization

/// A call as it was on the wire, or a run of a command of the tested side.
///
/// It is kept as it came, with the secrets in it: ``RunOutcome`` takes them out, once all are known.
package struct Exchange: Sendable {
    /// The most bytes that are kept of a body.
    package static let maxBody = 8_192
    /// The most bytes of each of its other texts.
    package static let maxLine = 1_024

    /// `POST http://localhost:8090/v1/enrollments`, or the command by its name.
    let sent: Excerpt
    /// The body or the input; empty if there was none.
    let sentBody: Excerpt
    /// `HTTP 422`, `exit 1`, or why there is no answer.
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

    /// The bytes that it takes, before anything is escaped.
    var bytes: Int { [sent, sentBody, received, receivedBody].reduce(128) { $0 + $1.text.utf8.count } }
}

/// The exchanges of one case, in order: the last ones that fit.
package struct KeptExchanges: Sendable {
    package private(set) var all: [Exchange] = []
    /// The number of earlier ones that are not kept.
    package private(set) var leftOut = 0
    private var bytes = 0

    package init() {}

    mutating func add(_ exchange: Exchange) {
        all.append(exchange)
        bytes += exchange.bytes
    }

    /// Leaves the first ones out until the rest takes no more than `limit` bytes.
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

/// The exchanges of a case.
package final class Trace: Sendable {
    /// The most bytes of a case.
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

    /// Takes over what another one has, instead of its own.
    func take(_ exchanges: KeptExchanges) { kept.withLock { $0 = exchanges } }
}
