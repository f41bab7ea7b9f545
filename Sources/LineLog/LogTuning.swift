package import Logging
import Synchronization

/// How the process logs at the moment; all its loggers look here, so that a reload reaches each of them.
///
/// One that was given a level of its own is never louder than this.
package final class LogTuning: Sendable {
    private struct State {
        var format: LineFormat
        var level: Logger.Level
    }

    private let state: Mutex<State>

    package init(_ format: LineFormat, _ level: Logger.Level) { state = Mutex(State(format: format, level: level)) }

    package var format: LineFormat { state.withLock(\.format) }
    package var level: Logger.Level { state.withLock(\.level) }

    package func set(_ format: LineFormat, _ level: Logger.Level) {
        state.withLock { $0 = State(format: format, level: level) }
    }
}
