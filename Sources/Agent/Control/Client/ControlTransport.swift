internal import Glibc
import Threads

/// Transport of one call over the Unix socket: HTTP/1.1, no redirects, no retries.
struct ControlTransport: Sendable {
    let socketPath: String
    /// The environment variables, which name the user whom the client trusts.
    let environment: [String: String]
    /// The minimum time limit of every wait, in seconds.
    ///
    /// It is for callers that prefer a long wait to an error, such as a test on a slow machine.
    let leastSeconds: Int

    func answer(to call: ControlCall) async throws(ClientError) -> ControlAnswer {
        try await onOwnThread { connection throws(ClientError) in
            let end = deadline(of: call)
            var exchange = try begin(call, on: connection, until: end)
            do throws(ExchangeError) {
                return try exchange.answer(upTo: ControlJSON.maxAnswerBytes, until: end)
            } catch {
                throw failure(error, within: call.seconds)
            }
        }
    }

    /// Passes the body of a successful answer to `take` as it arrives, until it ends or the connection breaks.
    ///
    /// - Parameter silence: the seconds without a byte after which the client assumes that the agent is gone.
    /// - Parameter opened: called when a successful answer has begun, before its body.
    /// - Returns: `true` if the body arrived completely, `false` if the connection broke before.
    /// - Throws: if the answer is not successful, and any error from `take`.
    @discardableResult
    func stream(
        _ call: ControlCall, silence: Int, opened: () -> Void = {}, _ take: ([UInt8]) throws(ClientError) -> Void
    ) async throws(ClientError) -> Bool {
        try await onOwnThread { connection throws(ClientError) in
            let seconds = min(call.seconds, silence)
            var exchange = try begin(call, on: connection, until: deadline(of: call))
            try goodHead(of: &exchange, to: call, within: seconds)
            opened()
            while true {
                let piece: [UInt8]?
                do throws(ExchangeError) {
                    piece = try exchange.piece(until: .now + .seconds(silence))
                } catch {
                    return false
                }
                guard let piece else { return true }
                try take(piece)
            }
        }
    }

    /// Waits for the head of an answer of the requested type.
    ///
    /// Any other answer is read as the agent's error.
    private func goodHead(
        of exchange: inout ControlExchange, to call: ControlCall, within seconds: Int
    ) throws(ClientError) {
        let end = ContinuousClock.now + .seconds(max(seconds, leastSeconds))
        let answer: ControlAnswer
        do throws(ExchangeError) {
            let head = try exchange.head(until: end)
            if head.status == 200, head["content-type"] == call.accepted { return }
            answer = try exchange.answer(upTo: ControlJSON.maxCommandBytes, until: end)
        } catch {
            throw failure(error, within: seconds)
        }
        throw answer.problem
    }

    /// Runs `body` with a connection on a thread that may block.
    ///
    /// A cancelled task shuts the connection, which ends the wait.
    private func onOwnThread<Value: Sendable>(
        _ body: (ControlConnection) throws(ClientError) -> Value
    ) async throws(ClientError) -> Value {
        do {
            let connection = try ControlConnection()
            return try await withTaskCancellationHandler {
                try await OwnThread.perform { try body(connection) }
            } onCancel: {
                connection.shut()
            }
        } catch let error as ClientError {
            throw error
        } catch {
            throw .unreachable("The agent cannot be asked, for this computer has no room for another call: \(error).")
        }
    }

    /// Connects, checks the listener, and sends the request.
    private func begin(
        _ call: ControlCall, on connection: ControlConnection, until end: ContinuousClock.Instant
    ) throws(ClientError) -> ControlExchange {
        do throws(ConnectionError) {
            try connection.connect(to: socketPath, until: .now + .seconds(max(Self.connectSeconds, leastSeconds)))
        } catch {
            throw failure(error)
        }
        try SocketTrust.expectTrusted(listener: connection.listener, at: socketPath, environment: environment)
        guard !Task.isCancelled else { throw failure(.ended, within: call.seconds) }
        do throws(ConnectionError) {
            return try ControlExchange(call, on: connection, until: end)
        } catch {
            throw failure(error == .late ? .late : .ended, within: call.seconds)
        }
    }

    /// Returns the error for a connection that could not be made.
    private func failure(_ error: ConnectionError) -> ClientError {
        switch error {
        case .system(ECONNREFUSED), .system(ENOENT), .system(ENOTDIR): .nobodyListens(at: [socketPath])
        case .system(EACCES):
            .unreachable("The socket \(socketPath) may not be used by this user: ask who runs the agent for access.")
        case .system(EAGAIN):
            .unreachable("The agent at \(socketPath) does not take connections: too many wait already.")
        case .system(let number):
            .unreachable(
                "The socket \(socketPath) cannot be connected to: \(unsafe String(cString: strerror(number))).")
        case .late: .unreachable("The agent at \(socketPath) does not take connections.")
        }
    }

    /// Returns the error for a call that was sent, completely or in part.
    private func failure(_ error: ExchangeError, within seconds: Int) -> ClientError {
        switch error {
        case .late:
            .unclear("The agent did not answer within \(seconds) s; what was asked may have been done.")
        case .ended:
            .unclear("The connection to the agent ended before its answer; what was asked may have been done.")
        case .tooLong:
            .unclear("The agent's answer has more than 8 MiB: ask for less, such as with --limit.")
        case .answer(.noHTTP):
            .unreachable("What listens on the socket \(socketPath) does not answer in HTTP: it is no oob-agent.")
        case .answer(.brokenBody):
            .unclear("The agent's answer is not in order; what was asked may have been done.")
        }
    }

    /// The time limit for the agent to accept a connection, in seconds.
    private static let connectSeconds = 5

    private func deadline(of call: ControlCall) -> ContinuousClock.Instant {
        .now + .seconds(max(call.seconds, leastSeconds))
    }
}
