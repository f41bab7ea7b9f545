import AgentHost
import Logging
import ThreeDS

/// How a log line is written.
enum LineFormat {
    case text
    /// Text with the level in front as sd-daemon(3) has it; the journal adds the time.
    case journald
    case json
    /// JSON with the level in front, which the journal takes away.
    case journaldJSON

    init(_ format: Settings.LogFormat, _ environment: [String: String]) {
        let isJournald = environment["JOURNAL_STREAM"] != nil
        switch format {
        case .json: self = isJournald ? .journaldJSON : .json
        case .text: self = isJournald ? .journald : .text
        }
    }
}

/// Writes each event as one line on standard error: a constant sentence, then `name=value` pairs.
struct LineLogHandler: LogHandler {
    private let tuning: LogTuning
    /// Of a logger that was given a level of its own.
    private var ownLevel: Logger.Level?
    var metadata: Logger.Metadata = [:]

    init(_ tuning: LogTuning) { self.tuning = tuning }

    var logLevel: Logger.Level {
        get { ownLevel ?? tuning.level }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { _, newer in newer }
        let pairs = all.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") }
        StandardStream.error.write(line(event.level, "\(event.message)", pairs))
    }

    private func line(_ level: Logger.Level, _ message: String, _ pairs: [(String, String)]) -> String {
        switch tuning.format {
        case .text: "\(UTCTime.text(SystemClock().now)) \(level) \(Self.plain(message, pairs))"
        case .journald: "<\(level.syslogPriority)>\(Self.plain(message, pairs))"
        case .json: JSONLine(level, message, pairs).text
        case .journaldJSON: "<\(level.syslogPriority)>\(JSONLine(level, message, pairs).text)"
        }
    }

    /// Values come from outside too: none can start a line of its own or look like another member.
    private static func plain(_ message: String, _ pairs: [(String, String)]) -> String {
        let written = pairs.map { name, value in
            let shown = DisplayText(value).text
            let isBare = !shown.isEmpty && shown.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x3D }
            return "\(name)=" + (isBare ? shown : "\"\(shown.replacing("\"", with: "\\\""))\"")
        }
        return ([message] + written).joined(separator: " ")
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
