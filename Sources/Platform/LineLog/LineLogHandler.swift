import FoundationEssentials
package import Logging
import StrictJSON
import Synchronization
import TextAndTime

/// How a log line is written.
package enum LineFormat: Sendable {
    case text
    /// Text with the level in front as sd-daemon(3) has it; the journal adds the time.
    case journald
    case json
    /// JSON with the level in front, which the journal takes away.
    case journaldJSON

    /// As standard error takes text.
    package static var textOnStandardError: LineFormat { StandardStream.error.isJournal ? .journald : .text }

    /// As standard error takes JSON.
    package static var jsonOnStandardError: LineFormat { StandardStream.error.isJournal ? .journaldJSON : .json }
}

/// Writes each event as one line on standard error: a constant sentence, then `name=value` pairs.
package struct LineLogHandler: LogHandler {
    private let tuning: LogTuning
    /// Of a logger that was given a level: it says nothing below, and as little as the process if that is less.
    private var floor: Logger.Level = .trace
    package var metadata: Logger.Metadata = [:]

    package init(_ tuning: LogTuning) { self.tuning = tuning }

    package var logLevel: Logger.Level {
        get { max(floor, tuning.level) }
        set { floor = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        StandardStream.error.say(line(of: event)) { lost in
            warn("log lines were lost: nobody read standard error", metadata: [("lines", "\(lost)")])
        }
    }

    func line(of event: LogEvent) -> String {
        var all = metadata.merging(event.metadata ?? [:]) { _, newer in newer }
        if let error = event.error { all["error"] = "\(error)" }
        let pairs = all.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") }
        return line(event.level, "\(event.message)", pairs: pairs)
    }

    /// The time by the machine's clock, as a line has it.
    static var now: String { UTCTime.text(Int64(Date().timeIntervalSince1970.rounded(.down))) }

    private func warn(_ message: String, metadata: [(String, String)]) -> String {
        line(.warning, message, pairs: metadata)
    }

    private func line(_ level: Logger.Level, _ message: String, pairs: [(String, String)]) -> String {
        switch tuning.format {
        case .text: "\(Self.now) \(level) \(Self.plain(message, pairs))"
        case .journald: "<\(level.syslogPriority)>\(Self.plain(message, pairs))"
        case .json: JSONLine(level, message, pairs: pairs).text
        case .journaldJSON: "<\(level.syslogPriority)>\(JSONLine(level, message, pairs: pairs).text)"
        }
    }

    /// Values come from outside too: none can start a line of its own or look like another member.
    private static func plain(_ message: String, _ pairs: [(String, String)]) -> String {
        let written = pairs.map { name, value in
            let shown = DisplayText(value).text
            let isBare = !shown.isEmpty && shown.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x3D }
            return "\(name)=" + (isBare ? shown : quoted(shown))
        }
        return ([message] + written).joined(separator: " ")
    }

    /// By scalars: a quote with a mark on it is another character, and a quote all the same to whoever reads bytes.
    private static func quoted(_ text: String) -> String {
        "\"" + text.unicodeScalars.map { $0 == "\"" ? "\\\"" : String($0) }.joined() + "\""
    }
}

extension Logger.Level {
    /// syslog(3)'s number.
    fileprivate var syslogPriority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

/// A log line as a JSON object: `time`, `level`, `message`, then the pairs.
struct JSONLine {
    let text: String

    init(_ level: Logger.Level, _ message: String, pairs: [(String, String)]) {
        var object: JSONObject = [
            "time": .string(LineLogHandler.now), "level": .string("\(level)"), "message": .string(message),
        ]
        for (name, value) in pairs { object[name] = .string(value) }
        text = String(decoding: JSONValue.object(object).serialized(), as: UTF8.self)
    }
}

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
