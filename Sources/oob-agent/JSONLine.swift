import AgentHost
import Logging
import StrictJSON
import ThreeDS

/// A log line as a JSON object: `time`, `level`, `message`, then the pairs.
struct JSONLine {
    let text: String

    init(_ level: Logger.Level, _ message: String, _ pairs: [(String, String)]) {
        let own: [(String, String)] = [
            ("time", UTCTime.text(SystemClock().now)), ("level", "\(level)"), ("message", message),
        ]
        let ownNames = own.map(\.0)
        // A pair that has the name of one of these three must not take its place.
        let named = pairs.map { (ownNames.contains($0.0) ? $0.0 + "-" : $0.0, $0.1) }
        let object = JSONObject((own + named).map { .init(name: $0.0, value: .string($0.1)) })
        text = String(decoding: JSONValue.object(object).serialized(), as: UTF8.self)
    }
}
