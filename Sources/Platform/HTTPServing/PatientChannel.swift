import Hummingbird
package import HummingbirdCore
package import Logging
package import NIOCore

/// What happens on one connection to whoever comes: HTTP/1.1 within bounds, and no longer than a client has earned.
package struct PatientChannel: ServerChildChannel {
    package typealias Value = HTTP1Channel.Value

    /// Who sent a request.
    package struct Peer: Sendable {
        package let address: String
        package let channel: any Channel
        /// To be called once the whole request was read: from then on its client owes nothing.
        package let hasSentAll: @Sendable () -> Void
        /// To be called instead by whoever takes long to answer: the client has all the time until that answer begins, and
        /// then the whole time to read it.
        package let waitsForAnswer: @Sendable () -> Void
        /// To be called by whoever answers without an end of its own, such as events: the client has all the time until
        /// that answer is over.
        package let takesLong: @Sendable () -> Void
    }

    /// The answer to a request of a peer, and whether it was a good one, which earns its client more time.
    package typealias Responder =
        @Sendable (_ request: Request, _ peer: Peer) async -> (response: Response, isGood: Bool)

    /// The most that the fields of a request may be.
    package struct HeaderBounds: Sendable {
        let fieldBytes: Int
        let bytes: Int
        let fields: Int

        /// - Parameters:
        ///   - fieldBytes: of one field.
        ///   - bytes: of all together.
        ///   - fields: how many there are.
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
    ///   - seconds: for a whole request and its answer, and for the next one after it.
    ///   - gate: whose connections are let in; `nil`: everybody's.
    ///   - unreadable: the answer to what cannot be read; `nil`: a bare 400.
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
            // It has its answer, and holds nobody's place until it is closed.
            try? await value.executeThenClose { _, _ in try await value.channel.closeFuture.get() }
            return
        }
        let (channel, places) = (value.channel, places)
        let place = places.enter(Source.path(of: channel.remoteAddress?.ipAddress)) { channel.cut() }.entered
        defer { places.leave(place) }
        // However little it sends how often: only what the server calls good earns a client more time.
        let deadline = ClientDeadline(on: channel.eventLoop, after: .seconds(Int64(seconds))) {
            places.noteSlow()
            channel.cut()
        }
        deadline.renew()
        defer { deadline.end() }
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
        // One that has closed meanwhile has no handlers, and no request either.
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
    /// A close that goes through TLS waits for the peer's own, which one that only holds places never sends.
    func cut() {
        eventLoop.execute {
            let pipeline = self.pipeline.syncOperations
            let beforeTLS = FirstHandler()
            do {
                try pipeline.addHandler(beforeTLS, position: .first)
                try pipeline.context(handler: beforeTLS).close(promise: nil)
            } catch {
                // It is closed already.
                self.close(promise: nil)
            }
        }
    }
}

/// Stands next to the socket, and does nothing.
private final class FirstHandler: ChannelOutboundHandler {
    typealias OutboundIn = Never
}
