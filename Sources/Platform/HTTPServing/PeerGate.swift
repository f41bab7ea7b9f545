import CLinux
import FairSharing
package import Logging
import NIOCore
import Synchronization

/// A gate that admits connections by the user at their other end, before a byte of HTTP is read.
///
/// The kernel reports the user. A refused connection gets a fixed answer. At most ``maxStrangers`` refused connections
/// are open, for two seconds each, and they use no other connection's place.
package final class PeerGate: Sendable {
    /// The rule that says whose connections are admitted.
    package enum Rule: Sendable, Equatable {
        /// All users; the kernel is not asked.
        case anyone
        /// These users, by uid.
        case users(Set<UInt32>)
    }

    /// The reason for a refusal.
    package enum Refusal: Sendable {
        /// The connection is another user's.
        case otherUser
        /// The kernel does not report the user, such as for a connection that its client has closed already.
        case notKnown
    }

    /// The uid that the kernel reports for a user outside of this process's user namespace (user_namespaces(7)).
    private static let unmappedUser: UInt32 = 65_534
    /// The most refused connections at a time.
    ///
    /// For one more, the oldest connection of the user with the most is cut.
    static let maxRefusedPeers = 16
    /// The time that a refused client has to read the answer.
    private static let patience: TimeAmount = .seconds(2)
    /// The pause between two log lines.
    private static let logPause: TimeAmount = .minutes(1)

    private struct LogState {
        var next: NIODeadline?
        var leftOut = 0
    }

    private let rule: Rule
    private let answer: @Sendable (Refusal) -> [UInt8]
    private let log: Logger
    private let refusedPeers = ConnectionPlaces<UInt32>(.init(all: maxRefusedPeers)) { $0.owesSince }
    private let lines = Mutex(LogState())

    /// - Parameter answer: makes a whole response of HTTP/1.1, in bytes.
    package init(_ rule: Rule, log: Logger, answer: @escaping @Sendable (Refusal) -> [UInt8]) {
        self.rule = rule
        self.log = log
        self.answer = answer
    }

    /// Checks a connection that was just accepted, on its event loop; answers and closes a refused one.
    ///
    /// - Returns: whether the connection is admitted.
    func admits(_ channel: any Channel) throws -> Bool {
        guard case .users(let users) = rule else { return true }
        let known = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { socket in
            var owner: UInt32 = 0
            return unsafe clinux_peer_owner(socket, &owner) == 0 && owner != Self.unmappedUser ? owner : nil
        }
        let owner = known ?? nil
        if let owner, users.contains(owner) { return true }
        record(owner, at: channel.eventLoop.now)
        let bytes = answer(owner == nil ? .notKnown : .otherUser)
        try channel.pipeline.syncOperations.addHandler(RefusedConnection(ByteBuffer(bytes: bytes)), position: .first)
        let place = refusedPeers.enter([owner ?? Self.unmappedUser]) { channel.close(promise: nil) }.entered
        let deadline = channel.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { [refusedPeers] _ in
            deadline.cancel()
            refusedPeers.leave(place)
        }
        return false
    }

    private func record(_ owner: UInt32?, at now: NIODeadline) {
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

/// The first handler of a refused connection: sends one answer, and drops all input.
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
