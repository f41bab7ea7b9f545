import CLinux
import FairSharing
package import Logging
import NIOCore
import Synchronization

/// Lets in connections by the user at their other end, which the kernel tells, before a byte of HTTP is read.
///
/// A refused connection gets a fixed answer. At most ``maxStrangers`` of them stand, in nobody else's place, for two seconds
/// each.
package final class PeerGate: Sendable {
    /// The rule that says whose connections are let in.
    package enum Rule: Sendable, Equatable {
        /// Everybody; the kernel is not asked.
        case anyone
        /// These users, by their numbers.
        case users(Set<UInt32>)
    }

    /// Why a connection is refused.
    package enum Refusal: Sendable {
        /// It is another user's.
        case otherUser
        /// The kernel does not tell whose it is, such as one that its client has closed already.
        case notKnown
    }

    /// The kernel's number for a user whom this process's user namespace does not have (user_namespaces(7)).
    private static let unmappedUser: UInt32 = 65_534
    /// The most refused connections at a time; for one more the oldest of the user with most is cut.
    static let maxStrangers = 16
    /// The time in which a refused client can read why.
    private static let patience: TimeAmount = .seconds(2)
    /// Between two log lines.
    private static let logPause: TimeAmount = .minutes(1)

    private struct LogState {
        var next: NIODeadline?
        var leftOut = 0
    }

    private let rule: Rule
    private let answer: @Sendable (Refusal) -> [UInt8]
    private let log: Logger
    private let strangers = ConnectionPlaces<UInt32>(.init(all: maxStrangers)) { $0.owesSince }
    private let lines = Mutex(LogState())

    /// - Parameter answer: a whole response of HTTP/1.1, in bytes.
    package init(_ rule: Rule, log: Logger, answer: @escaping @Sendable (Refusal) -> [UInt8]) {
        self.rule = rule
        self.log = log
        self.answer = answer
    }

    /// Looks at a connection that was accepted just now, on its event loop; a refused one is answered and closed.
    ///
    /// - Returns: whether it is let in.
    func admits(_ channel: any Channel) throws -> Bool {
        guard case .users(let users) = rule else { return true }
        let known = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { socket in
            var owner: UInt32 = 0
            return unsafe clinux_peer_owner(socket, &owner) == 0 && owner != Self.unmappedUser ? owner : nil
        }
        let owner = known ?? nil
        if let owner, users.contains(owner) { return true }
        note(owner, at: channel.eventLoop.now)
        let bytes = answer(owner == nil ? .notKnown : .otherUser)
        try channel.pipeline.syncOperations.addHandler(RefusedConnection(ByteBuffer(bytes: bytes)), position: .first)
        let place = strangers.enter([owner ?? Self.unmappedUser]) { channel.close(promise: nil) }.entered
        let deadline = channel.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { [strangers] _ in
            deadline.cancel()
            strangers.leave(place)
        }
        return false
    }

    private func note(_ owner: UInt32?, at now: NIODeadline) {
        let leftOut: Int? = lines.withLock { lines in
            if let next = lines.next, now < next {
                lines.leftOut += 1
                return nil
            }
            lines.next = now + Self.logPause
            defer { lines.leftOut = 0 }
            return lines.leftOut
        }
        guard let leftOut else { return }
        var metadata: Logger.Metadata = owner.map { ["uid": "\($0)"] } ?? [:]
        if leftOut > 0 { metadata["left-out"] = "\(leftOut)" }
        log.warning(
            owner == nil
                ? "a connection was refused: the kernel does not say whose it is"
                : "a connection was refused: it is another user's", metadata: metadata)
    }
}

/// Stands between a refused connection and everything else: sends one answer, and drops what comes.
final class RefusedConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let answer: ByteBuffer

    init(_ answer: ByteBuffer) { self.answer = answer }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        context.writeAndFlush(NIOAny(answer), promise: nil)
        // Bytes that still come are read, so that the answer is not lost with the connection (RFC 9112 section 9.6).
        context.close(mode: .output, promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let event = event as? ChannelEvent, event == .inputClosed else {
            return context.fireUserInboundEventTriggered(event)
        }
        context.close(promise: nil)
    }
}
