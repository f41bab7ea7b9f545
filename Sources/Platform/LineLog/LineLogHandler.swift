import FoundationEssentials
package import Logging
import StrictJSON
import Synchronization
import TextAndTime

/// The format of a log line.
package enum LineFormat: Sendable {
    case text
    /// Text after the level in sd-daemon(3)'s form; the journal adds the time.
    case journald
    case json
    /// JSON after the level, which the journal removes.
    case journaldJSON

    /// The format for text on standard error.
    package static var textOnStandardError: LineFormat { StandardStream.error.isJournal ? .journald : .text }

    /// The format for JSON on standard error.
    package static var jsonOnStandardError: LineFormat { StandardStream.error.isJournal ? .journaldJSON : .json }
}

/// A log handler that writes each event as one line on standard error.
///
/// A line is a constant sentence, then `name=value` pairs.
package struct LineLogHandler: LogHandler {
    private let tuning: LogTuning
    /// The level that this logger was given; the level of the process applies if it is higher.
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
        StandardStream.error.log(line(of: event)) { lost in
            warn("log lines were lost: nobody read standard error", metadata: [("lines", "\(lost)")])
        }
    }

    func line(of event: LogEvent) -> String {
        var all = metadata.merging(event.metadata ?? [:]) { _, newer in newer }
        if let error = event.error { all["error"] = "\(error)" }
        let pairs = all.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") }
        return line(event.level, "\(event.message)", pairs: pairs)
    }

    /// The time of the machine's clock, in the form of a log line.
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

    /// Returns a line of text, in which a value can neither start a line nor look like another member.
    ///
    /// Values come from outside too.
    private static func plain(_ message: String, _ pairs: [(String, String)]) -> String {
        let written = pairs.map { name, value in
            let shown = DisplayText(value).text
            let isBare = !shown.isEmpty && shown.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x3D }
            return "\(name)=" + (isBare ? shown : quoted(shown))
        }
        return ([message] + written).joined(separator: " ")
    }

    /// Quotes a text, and escapes quotation marks by scalars.
    ///
    /// In Swift, a quotation mark with a combining mark is another character. For a reader of bytes, it still is a
    /// quotation mark.
    private static func quoted(_ text: String) -> String {
        "\"" + text.unicodeScalars.map { $0 == "\"" ? "\\\"" : String($0) }.joined() + "\""
    }
}

extension Logger.Level {
    /// The level's number in syslog(3).
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

/// The log settings of the process, which all its loggers read, so that a reload reaches each of them.
///
/// A logger with a level of its own never writes more than this level allows.
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
