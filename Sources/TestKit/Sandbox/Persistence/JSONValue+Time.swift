import StrictJSON
import TextAndTime

/// Times as text: RFC 3339, UTC, as in the sandbox's own answers.
extension JSONValue {
    static func time(_ secondsSince1970: Int64) -> JSONValue {
        .string(UTCTime.text(secondsSince1970))
    }
}
