internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
import Synchronization

/// Takes in an answer on the event loop of its connection, up to the bound of the call.
///
/// So the caller's task is woken up once, by the whole answer, and not by each piece of it.
final class AnswerReader: HTTPClientResponseDelegate {
    /// The answer is a redirect: nobody reads what is beside it.
    struct RedirectError: Error {}

    private struct State {
        var head = HTTPResponseHead(version: .http1_1, status: .ok)
        var body = ByteBuffer()
    }

    private let maxBytes: Int
    private let state = Mutex(State())

    /// - Parameter maxBytes: the most that a body may have.
    init(maxBytes: Int) { self.maxBytes = maxBytes }

    /// As it was received last; before that, one without fields.
    var head: HTTPResponseHead { state.withLock(\.head) }

    func didReceiveHead(task: HTTPClient.Task<ByteBuffer>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        state.withLock { $0.head = head }
        guard !(300..<400).contains(head.status.code) else { return task.eventLoop.makeFailedFuture(RedirectError()) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<ByteBuffer>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        let fits = state.withLock { state in
            guard part.readableBytes <= maxBytes - state.body.readableBytes else { return false }
            state.body.writeImmutableBuffer(part)
            return true
        }
        guard fits else { return task.eventLoop.makeFailedFuture(NIOTooManyBytesError(maxBytes: maxBytes)) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    /// The body.
    func didFinishRequest(task: HTTPClient.Task<ByteBuffer>) -> ByteBuffer { state.withLock(\.body) }
}
