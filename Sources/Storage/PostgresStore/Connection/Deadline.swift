#if PostgreSQL
import Glibc

/// A deadline on CLOCK_MONOTONIC, and waiting for a socket until then.
struct Deadline {
    /// Milliseconds of CLOCK_MONOTONIC.
    private let end: Int64

    init(in duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let most: Int64 = 86_400
        let milliseconds =
            seconds >= most ? most * 1_000 : max(0, seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
        end = Self.now() + milliseconds
    }

    private static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Whether a read would return at once, with data or because the peer has closed the socket.
    ///
    /// Does not wait.
    static func canBeRead(_ socket: Int32) -> Bool {
        var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, 0) > 0
    }

    /// Waits until a socket can be read or written.
    ///
    /// - Returns: false at the deadline.
    func wait(for socket: Int32, toRead: Bool, toWrite: Bool) -> Bool {
        let events = Int16((toRead ? POLLIN : 0) | (toWrite ? POLLOUT : 0))
        while true {
            let left = end - Self.now()
            guard left > 0 else { return false }
            var waiting = pollfd(fd: socket, events: events, revents: 0)
            let ready = unsafe poll(&waiting, 1, Int32(clamping: left))
            // A closed or broken socket counts as ready, because libpq then reports the error.
            if ready > 0 || ready < 0 && errno != EINTR { return true }
        }
    }
}
#endif
