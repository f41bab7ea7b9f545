import Glibc
package import HummingbirdCore
package import LinuxProcess
import NIOCore
import Synchronization

/// A listener on a Unix socket that keeps the socket's file in its place.
///
/// A file that was removed is created again at the next check. Connections that were open before go on.
package struct UnixListener: Sendable {
    /// A change that a check has found.
    package enum Change: Sendable, Equatable {
        /// The file was removed, and was created again.
        case madeAnew
        /// No client can connect: the file is missing, and this error prevents its creation.
        case lost(SocketPlaceError)
        /// No client can connect: the attempt to listen failed with this error.
        case unusable(String)
        /// The file is in its place again.
        case recovered
    }

    private let place: SocketPlace
    private let group: UInt32?
    private let listener: HTTPListener
    private let couldNotGive: @Sendable (_ part: String, _ errno: CInt) -> Void

    /// - Parameters:
    ///   - group: the group that may use the file, besides its owner. `nil` for the owner alone.
    ///   - listener: listens at the path of `place`.
    ///   - couldNotGive: called with "mode" or "group", and errno, if that of the file cannot be set.
    package init(
        _ place: SocketPlace, group: UInt32? = nil, listener: HTTPListener,
        couldNotGive: @escaping @Sendable (_ part: String, _ errno: CInt) -> Void
    ) {
        self.place = place
        self.group = group
        self.listener = listener
        self.couldNotGive = couldNotGive
    }

    /// Serves until a graceful shutdown.
    ///
    /// - Parameters:
    ///   - looks: the occasions on which the file is checked.
    ///   - onListening: called once the socket listens and its file has its mode. No request is answered before it
    ///     returns.
    ///   - onChange: called after a check that found a change.
    /// - Throws: `IOError` if the path cannot be listened on.
    package func serve(
        _ channel: some ServerChildChannel, looks: SocketLooks, onListening: @escaping @Sendable () async -> Void,
        onChange: @Sendable (Change) -> Void
    ) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            guard let first = try await start(channel, looks, in: &group, then: onListening) else { return }
            var current: Served? = first
            var before: Change = .recovered
            for await _ in looks.occasions {
                if let current, current.isOver.value { break }
                let found = await look(at: &current, after: before, channel, looks, in: &group)
                if found != before || found == .madeAnew { onChange(found) }
                before = found == .madeAnew ? .recovered : found
            }
        }
    }

    /// Checks whether the file is in its place, and creates it again if the place is free.
    ///
    /// - Parameter current: `nil` if an earlier attempt to listen failed.
    private func look(
        at current: inout Served?, after before: Change, _ channel: some ServerChildChannel, _ looks: SocketLooks,
        in group: inout ThrowingDiscardingTaskGroup<any Error>
    ) async -> Change {
        do {
            if let served = current, try place.state(for: served.file) == .ours {
                if served.file == nil { current = served.with(file()) }
                return .recovered
            }
            try place.clear()
            // Retired first, because closing the old socket removes the file at its path.
            await current?.listening.retire()
            current = nil
            current = try await start(channel, looks, in: &group, then: {})
            return .madeAnew
        } catch let error as SocketPlaceError {
            // Without a descriptor, the check has no result. The next check will do.
            if case .system(let cause) = error, [EMFILE, ENFILE, ENOMEM].contains(cause.errno) { return before }
            return .lost(error)
        } catch let error as IOError {
            return .unusable(error.text)
        } catch {
            return .unusable("\(error)")
        }
    }

    /// Starts the listener and returns once it listens, or `nil` if it was stopped before.
    private func start(
        _ channel: some ServerChildChannel, _ looks: SocketLooks,
        in tasks: inout ThrowingDiscardingTaskGroup<any Error>, then onListening: @escaping @Sendable () async -> Void
    ) async throws -> Served? {
        let (started, start) = AsyncThrowingStream<Served, any Error>.makeStream()
        let isOver = Flag()
        tasks.addTask { [self] in
            do {
                try await listener.serve(channel) { listening in
                    start.yield(Served(file: file(), listening: listening, isOver: isOver))
                    await onListening()
                }
                start.finish()
            } catch {
                start.finish(throwing: error)
            }
            isOver.set()
            looks.ask()
        }
        for try await served in started { return served }
        return nil
    }

    /// Returns the socket's file, or `nil` if it was removed or replaced already or cannot be checked.
    ///
    /// The next check finds such a change.
    private func file() -> SocketFile? {
        try? place.file(group: group, couldNot: couldNotGive)
    }
}

/// A socket that has a listener.
private struct Served {
    let file: SocketFile?
    let listening: Listening
    /// Set once the listener has ended.
    let isOver: Flag

    func with(_ file: SocketFile?) -> Served { Served(file: file, listening: listening, isOver: isOver) }
}

private final class Flag: Sendable {
    private let state = Mutex(false)

    var value: Bool { state.withLock(\.self) }

    func set() { state.withLock { $0 = true } }
}

/// The occasions on which the file of a socket is checked; several at once count as one.
package final class SocketLooks: Sendable {
    let occasions: AsyncStream<Void>
    private let occasion: AsyncStream<Void>.Continuation

    package init() { (occasions, occasion) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// Requests a check soon.
    package func ask() { occasion.yield() }

    /// Requests a check after each pause, until the task is cancelled.
    ///
    /// - Parameter pause: waits; throws if the task is cancelled.
    package func ask(afterEach pause: @Sendable () async throws -> Void) async {
        while (try? await pause()) != nil { ask() }
    }
}
