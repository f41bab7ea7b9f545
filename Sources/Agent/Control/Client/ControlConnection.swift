internal import Glibc

/// A connection to the agent, for a thread that may wait: each wait ends with a deadline, or once it is shut.
final class ControlConnection: Sendable {
    /// Between two tries to get into the agent's queue of connections, in milliseconds.
    private static let pause: CInt = 20

    private let number: CInt

    /// Makes a socket; nothing is connected yet.
    init() throws(ConnectionError) {
        number = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard number >= 0 else { throw .afterCall }
    }

    deinit { _ = close(number) }

    /// Ends what waits for it, and all that is done with it later; for any thread.
    func shut() { _ = shutdown(number, CInt(SHUT_RDWR)) }

    /// The user who listens at the other end, as the kernel says.
    var listener: UInt32? { SocketTrust.listener(of: number) }

    /// Connects to a path that ``ControlSocket`` took.
    ///
    /// The kernel takes no connection while the agent's queue of them is full. That is tried again for a while.
    func connect(to path: String, until end: ContinuousClock.Instant) throws(ConnectionError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
            // Behind it there is a zero byte: a path is shorter than the room.
            unsafe room.copyBytes(from: path.utf8.prefix(room.count - 1))
        }
        while true {
            let status = unsafe withUnsafePointer(to: address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    unsafe Glibc.connect(number, address, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            if status == 0 { return }
            let error = ConnectionError.afterCall
            guard error == .system(EAGAIN) || error == .system(EINTR), .now < end, !Task.isCancelled else {
                throw error
            }
            poll(nil, 0, Self.pause)
        }
    }

    /// Sends all of it.
    func send(_ bytes: [UInt8], until end: ContinuousClock.Instant) throws(ConnectionError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(number, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
            }
            if count >= 0 { rest = rest.dropFirst(count) } else { try wait(for: POLLOUT, until: end) }
        }
    }

    /// Waits for bytes, and puts them at the start of `room`.
    ///
    /// - Returns: how many; 0 once the agent has ended the connection.
    func receive(into room: inout [UInt8], until end: ContinuousClock.Instant) throws(ConnectionError) -> Int {
        while true {
            let count = unsafe room.withUnsafeMutableBytes { bytes in
                unsafe recv(number, bytes.baseAddress, bytes.count, 0)
            }
            if count >= 0 { return count }
            try wait(for: POLLIN, until: end)
        }
    }

    /// After a call that could not be done at once: returns when to try again.
    private func wait(for event: CInt, until end: ContinuousClock.Instant) throws(ConnectionError) {
        let error = ConnectionError.afterCall
        if error == .system(EINTR) { return }
        guard error == .system(EAGAIN) else { throw error }
        while true {
            let left = end - .now
            guard left > .zero else { throw .late }
            var socket = pollfd(fd: number, events: Int16(event), revents: 0)
            // An hour at a time, and a part of a millisecond as a whole one.
            let milliseconds = CInt(min(left, .seconds(3_600)) / .milliseconds(1)) + 1
            let count = unsafe poll(&socket, 1, milliseconds)
            if count > 0 { return }
            guard count == 0 || errno == EINTR else { throw .afterCall }
        }
    }
}

/// Why there is no connection any more, or none came about.
enum ConnectionError: Error, Equatable {
    /// What the kernel left in errno.
    case system(CInt)
    /// It took longer than it may.
    case late

    /// From errno as the call just before left it.
    static var afterCall: ConnectionError { .system(errno) }
}
