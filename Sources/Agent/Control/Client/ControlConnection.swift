internal import Glibc

/// A connection to the agent, for a thread that may block.
///
/// Each wait ends at its deadline, or when ``shut()`` is called.
final class ControlConnection: Sendable {
    /// The pause between attempts to connect while the agent's backlog is full, in milliseconds.
    private static let pause: CInt = 20

    private let number: CInt

    /// Creates a socket that is not connected yet.
    init() throws(ConnectionError) {
        number = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard number >= 0 else { throw .afterCall }
    }

    deinit { _ = close(number) }

    /// Shuts the connection down, which ends pending and later operations.
    ///
    /// Any thread may call it.
    func shut() { _ = shutdown(number, CInt(SHUT_RDWR)) }

    /// The user id of the listener at the other end (SO_PEERCRED).
    var listener: UInt32? { SocketTrust.listener(of: number) }

    /// Connects to a path that ``ControlSocket`` has checked.
    ///
    /// While the agent's backlog is full, the kernel refuses the connection with EAGAIN. The attempt is then repeated
    /// until `end`.
    func connect(to path: String, until end: ContinuousClock.Instant) throws(ConnectionError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
            // A zero byte follows the path, because the path is shorter than `sun_path`.
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

    /// Sends all bytes.
    func send(_ bytes: [UInt8], until end: ContinuousClock.Instant) throws(ConnectionError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(number, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
            }
            if count >= 0 { rest = rest.dropFirst(count) } else { try wait(for: POLLOUT, until: end) }
        }
    }

    /// Waits for bytes and writes them to the start of `room`.
    ///
    /// - Returns: the number of bytes. It is 0 if the agent has ended the connection.
    func receive(into room: inout [UInt8], until end: ContinuousClock.Instant) throws(ConnectionError) -> Int {
        while true {
            let count = unsafe room.withUnsafeMutableBytes { bytes in
                unsafe recv(number, bytes.baseAddress, bytes.count, 0)
            }
            if count >= 0 { return count }
            try wait(for: POLLIN, until: end)
        }
    }

    /// Waits until a call that failed with EAGAIN or EINTR can be repeated.
    private func wait(for event: CInt, until end: ContinuousClock.Instant) throws(ConnectionError) {
        let error = ConnectionError.afterCall
        if error == .system(EINTR) { return }
        guard error == .system(EAGAIN) else { throw error }
        while true {
            let left = end - .now
            guard left > .zero else { throw .late }
            var socket = pollfd(fd: number, events: Int16(event), revents: 0)
            // Wait at most an hour at a time, and round a part of a millisecond up.
            let milliseconds = CInt(min(left, .seconds(3_600)) / .milliseconds(1)) + 1
            let count = unsafe poll(&socket, 1, milliseconds)
            if count > 0 { return }
            guard count == 0 || errno == EINTR else { throw .afterCall }
        }
    }
}

/// An error that ended a connection or prevented it.
enum ConnectionError: Error, Equatable {
    /// The errno of a failed system call.
    case system(CInt)
    /// The deadline passed.
    case late

    /// The error from errno, as the system call just before set it.
    static var afterCall: ConnectionError { .system(errno) }
}
