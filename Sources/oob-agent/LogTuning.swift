import Logging
import Synchronization

/// How the process logs at the moment; all its loggers look here, so that a reload reaches each of them.
final class LogTuning: Sendable {
    private struct State {
        var format: LineFormat
        var level: Logger.Level
    }

    private let state: Mutex<State>

    init(_ settings: Settings) {
        state = Mutex(State(format: settings.lineFormat, level: settings.logLevel))
    }

    var format: LineFormat { state.withLock(\.format) }
    var level: Logger.Level { state.withLock(\.level) }

    func set(_ settings: Settings) {
        state.withLock { $0 = State(format: settings.lineFormat, level: settings.logLevel) }
    }
}
