import HTTPTypes
package import HummingbirdCore
package import NIOCore
import NIOHTTPTypes
import Synchronization

/// An HTTP request for its responder and the answer for its client, with the rules that all our servers follow.
///
/// - `HEAD` is handled as `GET`. Its answer has the same status and fields, and no body (RFC 9110 section 9.3.2).
/// - A client that sends `Expect: 100-continue` holds its body back. It gets `100 Continue` once the responder reads
///   the body, or its final answer at once (section 10.1.1).
package struct Exchange: Sendable {
    /// The request, with `GET` in the place of `HEAD`.
    package let request: Request
    /// Whether the client asked for the head alone, so that work for the body can be left out.
    package var isHead: Bool { original.method == .head }
    private let original: Request
    private let channel: any Channel
    private let heldBack: HeldBackBody?

    package init(_ request: Request, on channel: any Channel) {
        original = request
        self.channel = channel
        heldBack = request.holdsBodyBack ? HeldBackBody(request.body, on: channel) : nil
        guard request.method == .head || heldBack != nil else {
            self.request = request
            return
        }
        var head = request.head
        if head.method == .head { head.method = .get }
        self.request = Request(head: head, body: heldBack.map(RequestBody.init(asyncSequence:)) ?? request.body)
    }

    /// Sends an answer.
    ///
    /// - Returns: whether it is the last answer of its connection. The caller must then close it with ``close()``.
    package func send(_ response: Response, by writer: consuming ResponseWriter) async throws -> Bool {
        var head = response.head
        if let allowed = head.headerFields[.allow], allowed.split(separator: ", ").contains("GET") {
            head.headerFields[.allow] = allowed + ", HEAD"
        }
        // The body that was held back may still come or not, so the server could not distinguish it from the next
        // request. And the encoder would end a body whose length is not known, but an answer to HEAD has no body.
        let isLast = heldBack?.isHeldBack == true || isHead && response.body.contentLength == nil
        if isLast { head.headerFields[.connection] = "close" }
        guard isHead else {
            try await writer.write(response: head, body: response.body)
            return isLast
        }
        if response.body.contentLength == nil {
            _ = try await writer.writeHead(head)
        } else {
            try await writer.writeResponse(head)
        }
        return isLast
    }

    /// Closes the connection as RFC 9112 section 9.6 says: reads and discards the bytes that still come.
    ///
    /// Ends once the client has closed its half. The caller's deadline cuts a client that does not.
    ///
    /// - Throws: always, so that the server takes no request from the bytes behind this one.
    package func close() async throws -> Never {
        try? await channel.close(mode: .output)
        if heldBack?.isHeldBack == true { for try await _ in original.body {} }
        try await channel.closeFuture.get()
        throw ClosedConnectionError()
    }
}

/// The error that ends a connection after its last answer.
private struct ClosedConnectionError: Error {}

extension Request {
    fileprivate var holdsBodyBack: Bool {
        headers.contains(.expect) && headers[.contentLength] != "0"
            && headers[values: .expect].contains { values in
                values.split(separator: ",").contains { value in
                    value.filter { $0 != " " && $0 != "\t" }.lowercased() == "100-continue"
                }
            }
    }
}

/// A body that its client sends after `100 Continue`.
private final class HeldBackBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    private let body: RequestBody
    private let channel: any Channel
    private let held = Mutex(true)

    init(_ body: RequestBody, on channel: any Channel) {
        self.body = body
        self.channel = channel
    }

    /// Whether the body has not been read yet.
    var isHeldBack: Bool { held.withLock(\.self) }

    private func askFor() async throws {
        let isFirst = held.withLock { held in
            defer { held = false }
            return held
        }
        if isFirst { try await channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue))) }
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let held: HeldBackBody
        fileprivate var base: RequestBody.AsyncIterator

        mutating func next() async throws -> ByteBuffer? {
            try await held.askFor()
            return try await base.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(held: self, base: body.makeAsyncIterator()) }
}
