import Logging

/// What an agent logs.
struct WrittenLog: LogHandler {
    let lines = Box<[(level: Logger.Level, text: String)]>([])
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    var logger: Logger { Logger(label: "test") { _ in self } }

    /// The lines of one level.
    func lines(_ level: Logger.Level) -> [String] { lines.value.filter { $0.level == level }.map(\.text) }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.change { $0.append((event.level, "\(event.message)")) } }
}
