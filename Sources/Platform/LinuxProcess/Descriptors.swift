import Glibc
import Synchronization

/// The descriptors of this process: whether any are left, and how often none was.
///
/// They are the process's, so this is too.
package enum Descriptors {
    /// The descriptors that the system refused.
    package struct Refusals: Sendable, Equatable {
        package var count = 0
        /// Seconds since some moment (CLOCK_MONOTONIC) of the last one; `nil` if there was none.
        package var lastAt: Int64?
    }

    /// The seconds for which a refusal counts as the present state.
    private static let memory: Int64 = 60

    private static let state = Mutex(Refusals())

    package static var refusals: Refusals { state.withLock(\.self) }

    /// Whether one more could be opened just now; if not, that is noted.
    package static func areLeft() -> Bool {
        let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor < 0 else {
            close(descriptor)
            return true
        }
        return !noteRefusal(errno)
    }

    /// Notes an error if it says that no descriptor was left, of the process (EMFILE) or of the system (ENFILE).
    ///
    /// - Returns: whether it does.
    @discardableResult
    package static func noteRefusal(_ error: CInt) -> Bool {
        guard error == EMFILE || error == ENFILE else { return false }
        let now = seconds
        state.withLock { $0 = Refusals(count: $0.count + 1, lastAt: now) }
        return true
    }

    /// A sentence if none is left, or was within the last minute; `nil` if all is well.
    package static func shortage() -> String? {
        let isShort = !areLeft() || refusals.lastAt.map { seconds - $0 < memory } == true
        guard isShort else { return nil }
        return "the agent ran out of descriptors (it may open \(FileLimit.files) files): "
            + "raise the limit, LimitNOFILE= of its unit or ulimit -n"
    }

    private static var seconds: Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec)
    }
}
