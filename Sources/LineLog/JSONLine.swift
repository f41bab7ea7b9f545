import Logging
import StrictJSON

/// A log line as a JSON object: `time`, `level`, `message`, then the pairs.
struct JSONLine {
    let text: String

    init(_ level: Logger.Level, _ message: String, _ pairs: [(String, String)]) {
        var object: JSONObject = [
            "time": .string(LineLogHandler.now), "level": .string("\(level)"), "message": .string(message),
        ]
        for (name, value) in pairs { object[name] = .string(value) }
        text = String(decoding: JSONValue.object(object).serialized(), as: UTF8.self)
    }
}
