internal import Glibc

/// A call on a connection of its own: sends the request and reads the answer.
///
/// For a thread that may block.
struct ControlExchange {
    /// The maximum number of bytes in one read.
    private static let roomBytes = 65_536

    private let connection: ControlConnection
    private var reader = AnswerReader()
    private var room = [UInt8](repeating: 0, count: roomBytes)
    /// The bytes of the body that arrived together with the head.
    private var firstOfBody: [UInt8] = []

    /// Sends the request.
    init(_ call: ControlCall, on connection: ControlConnection, until end: ContinuousClock.Instant)
        throws(ConnectionError)
    {
        self.connection = connection
        do throws(ConnectionError) {
            try connection.send(call.bytes, until: end)
        } catch  where error == .system(EPIPE) || error == .system(ECONNRESET) {
            // An agent that did not read all of the request may still have answered.
        }
    }

    /// Waits for the head of the answer.
    mutating func head(until end: ContinuousClock.Instant) throws(ExchangeError) -> AnswerHead {
        while true {
            if let head = reader.head { return head }
            firstOfBody += try more(until: end)
        }
    }

    /// Waits for the next bytes of the body.
    ///
    /// Returns `nil` at its end.
    mutating func piece(until end: ContinuousClock.Instant) throws(ExchangeError) -> [UInt8]? {
        if !firstOfBody.isEmpty {
            defer { firstOfBody = [] }
            return firstOfBody
        }
        while !reader.isOver {
            let piece = try more(until: end)
            if !piece.isEmpty { return piece }
        }
        return nil
    }

    /// Waits for the complete answer.
    mutating func answer(upTo maxBytes: Int, until end: ContinuousClock.Instant) throws(ExchangeError) -> ControlAnswer
    {
        let head = try head(until: end)
        var body: [UInt8] = []
        while let piece = try piece(until: end) {
            body += piece
            guard body.count <= maxBytes else { throw .tooLong }
        }
        return ControlAnswer(head, body: body)
    }

    private mutating func more(until end: ContinuousClock.Instant) throws(ExchangeError) -> [UInt8] {
        let count: Int
        do throws(ConnectionError) {
            count = try connection.receive(into: &room, until: end)
        } catch {
            throw error == .late ? .late : .ended
        }
        guard count > 0 else { throw .ended }
        do throws(AnswerError) {
            return try reader.read(room[..<count])
        } catch {
            throw .answer(error)
        }
    }
}

/// An error that leaves a sent request without an answer.
enum ExchangeError: Error, Equatable {
    /// The connection ended before the answer did.
    case ended
    case late, tooLong
    case answer(AnswerError)
}

extension ControlAnswer {
    init(_ head: AnswerHead, body: [UInt8]) {
        self.init(
            status: head.status, contentType: head["content-type"], server: head["server"],
            hasNext: head["link"]?.hasSuffix("rel=\"next\"") ?? false, body: body)
    }
}

extension ControlCall {
    /// The bytes of the request.
    ///
    /// All parts except the body are ASCII without line ends.
    var bytes: [UInt8] {
        var head =
            "\(method.rawValue) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: \(accepted)\r\n"
        if let lastEventID { head += "\(ServerSentEvents.lastEventID): \(lastEventID.text)\r\n" }
        if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
        return Array((head + "\r\n").utf8) + (body ?? [])
    }
}
