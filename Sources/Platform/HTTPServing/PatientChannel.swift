import Hummingbird
package import HummingbirdCore
package import Logging
package import NIOCore

/// An HTTP/1.1 channel with bounds on the header, and a deadline that only good requests extend.
package struct PatientChannel: ServerChildChannel {
    package typealias Value = HTTP1Channel.Value

    /// The sender of a request.
    package struct Peer: Sendable {
        package let address: String
        package let channel: any Channel
        /// Records that the whole request was read, so that the server now owes the answer.
        package let hasSentAll: @Sendable () -> Void
        /// Stops the deadline until a slow answer begins; called instead of ``hasSentAll``.
        ///
        /// The client then has the full time to read the answer.
        package let waitsForAnswer: @Sendable () -> Void
        /// Stops the deadline until an answer without an end of its own, such as events, has ended.
        package let takesLong: @Sendable () -> Void
    }

    /// A function that answers a peer's request.
    ///
    /// `isGood` says whether the request was a good one, which earns its client more time.
    package typealias Responder =
        @Sendable (_ request: Request, _ peer: Peer) async -> (response: Response, isGood: Bool)

    /// The limits for the fields of a request.
    package struct HeaderBounds: Sendable {
        let fieldBytes: Int
        let bytes: Int
        let fields: Int

        /// - Parameters:
        ///   - fieldBytes: the most bytes of one field.
        ///   - bytes: the most bytes of all fields together.
        ///   - fields: the most fields.
        package init(fieldBytes: Int, bytes: Int, fields: Int) {
            self.fieldBytes = fieldBytes
            self.bytes = bytes
            self.fields = fields
        }
    }

    private let header: HeaderBounds
    private let seconds: Int
    private let places: SourcePlaces
    private let gate: PeerGate?
    private let unreadable: (@Sendable (UnreadableRequests.Reason) -> UnreadableRequests.Reply)?
    private let responder: Responder

    /// - Parameters:
    ///   - seconds: the limit for a whole request and its answer, and for the next request after it.
    ///   - gate: admits connections by their user. `nil` admits all.
    ///   - unreadable: makes the answer to a request that cannot be read. `nil` sends a bare 400.
    package init(
        _ header: HeaderBounds, seconds: Int, places: SourcePlaces, gate: PeerGate? = nil,
        unreadable: (@Sendable (UnreadableRequests.Reason) -> UnreadableRequests.Reply)? = nil,
        _ responder: @escaping Responder
    ) {
        self.header = header
        self.places = places
        self.seconds = seconds
        self.gate = gate
        self.unreadable = unreadable
        self.responder = responder
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        http { _, _, _ in }.setupWithLastRequests(channel: channel, logger: logger).flatMapThrowing { value in
            _ = try gate?.admits(channel)
            return value
        }
    }

    package func handle(value: Value, logger: Logger) async {
        guard await !isRefused(value.channel) else {
            // The client has its answer, and the connection uses no place until it is closed.
            try? await value.executeThenClose { _, _ in try await value.channel.closeFuture.get() }
            return
        }
        let (channel, places) = (value.channel, places)
        let place = places.enter(Source.path(of: channel.remoteAddress?.ipAddress)) { channel.cut() }.entered
        defer { places.leave(place) }
        // Only a request that the server calls good earns a client more time. Bytes that it sends now and then do not.
        let deadline = ClientDeadline(on: channel.eventLoop, after: .seconds(Int64(seconds))) {
            places.noteSlow()
            channel.cut()
        }
        deadline.renew()
        defer { deadline.cancel() }
        let peer = Peer(
            address: channel.remoteAddress?.ipAddress ?? "unknown", channel: channel,
            hasSentAll: { places.beginsAnswer(to: place) },
            waitsForAnswer: {
                places.beginsAnswer(to: place)
                deadline.pause()
            }, takesLong: { deadline.callOff() })
        await http { [responder] request, writer, channel in
            let exchange = Exchange(request, on: channel)
            let (response, isGood) = await responder(exchange.request, peer)
            deadline.resume()
            let isLast = try await exchange.send(response, by: writer)
            places.owes(place, wasGood: isGood)
            if isGood { deadline.renew() }
            if isLast { try await exchange.close() }
        }.handle(value: value, logger: logger)
    }

    private func isRefused(_ channel: any Channel) async -> Bool {
        guard gate != nil else { return false }
        // A connection that has closed meanwhile has no handlers, and no request either.
        return (try? await channel.pipeline.containsHandler(type: RefusedConnection.self).get()) != nil
    }

    private func http(_ responder: @escaping HTTPChannelHandler.Responder) -> HTTP1Channel {
        HTTP1Channel(
            responder: responder,
            configuration: .init(
                additionalChannelHandlers: unreadable.map { [UnreadableRequests($0)] } ?? [],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: header.fieldBytes, maxHeaderListSize: header.bytes,
                    maxHeaderFieldCount: header.fields)))
    }
}

extension Channel {
    /// Closes the connection at once.
    ///
    /// A close through TLS waits for the peer's own close, which a client that only occupies places never sends.
    func cut() {
        eventLoop.execute {
            let pipeline = self.pipeline.syncOperations
            let beforeTLS = FirstHandler()
            do {
                try pipeline.addHandler(beforeTLS, position: .first)
                try pipeline.context(handler: beforeTLS).close(promise: nil)
            } catch {
                // The connection is closed already.
                self.close(promise: nil)
            }
        }
    }
}

/// An empty handler that marks the position next to the socket.
private final class FirstHandler: ChannelOutboundHandler {
    typealias OutboundIn = Never
}
