import Glibc
import Synchronization

/// The descriptors of this process: whether any are left, and how often none was left.
///
/// Descriptors belong to the whole process, and so does this state.
package enum Descriptors {
    /// The requests for a descriptor that the system refused.
    package struct Refusals: Sendable, Equatable {
        package var count = 0
        /// The time of the last refusal, in seconds of CLOCK_MONOTONIC, or `nil` if there was none.
        package var lastAt: Int64?
    }

    /// The number of seconds for which a refusal counts as the present state.
    private static let memory: Int64 = 60

    private static let state = Mutex(Refusals())

    package static var refusals: Refusals { state.withLock(\.self) }

    /// Returns whether one more descriptor can be opened now, and records a refusal.
    package static func areLeft() -> Bool {
        let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor < 0 else {
            close(descriptor)
            return true
        }
        return !noteRefusal(errno)
    }

    /// Records an error if it means that no descriptor was left.
    ///
    /// That is EMFILE for the process or ENFILE for the system.
    ///
    /// - Returns: whether the error means that.
    @discardableResult
    package static func noteRefusal(_ error: CInt) -> Bool {
        guard error == EMFILE || error == ENFILE else { return false }
        let now = seconds
        state.withLock { $0 = Refusals(count: $0.count + 1, lastAt: now) }
        return true
    }

    /// Returns a sentence if descriptors ran out now or within the last minute, and `nil` otherwise.
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
