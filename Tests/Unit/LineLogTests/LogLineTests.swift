import Logging
import Testing

@testable import LineLog

@Suite struct LogLineTests {
    private struct Trouble: Error, CustomStringConvertible {
        let description: String
    }

    private func line(
        _ metadata: Logger.Metadata, error: (any Error)? = nil, format: LineFormat = .journald
    ) -> String {
        LineLogHandler(LogTuning(format, .trace)).line(
            of: LogEvent(
                level: .info, message: "said", error: error, metadata: metadata, source: nil, file: #fileID,
                function: #function, line: #line))
    }

    @Test(arguments: [
        ("a\"\u{301} uid=7", "\"a\\\"\u{301} uid=7\""), ("\" uid=7", "\"\\\" uid=7\""),
        ("a\"\r\n<2>b", "\"a\\\"\\u{D}\\u{A}<2>b\""), ("a b\\", "\"a b\\\\\""),
    ])
    func `a value ends where it ends, whatever a mark or a line's end makes of its quotes`(
        value: String, written: String
    ) {
        // By bytes: texts with the same characters are equal else.
        #expect(
            Array(line(["process": "\(value)", "uid": "0"]).utf8) == Array("<6>said process=\(written) uid=0".utf8))
    }

    @Test func `an error that goes with an event is told`() {
        let trouble = Trouble(description: "no \"room\"")
        #expect(line(["a": "1"], error: trouble) == "<6>said a=1 error=\"no \\\"room\\\"\"")
        #expect(line([:], error: trouble, format: .json).contains(#""error":"no \"room\"""#))
    }

    @Test func `what an event says of itself counts more than what its logger says of all`() {
        var handler = LineLogHandler(LogTuning(.journald, .trace))
        handler[metadataKey: "enrollment"] = "the logger's"
        handler[metadataKey: "issuer"] = "its own"
        let event = LogEvent(
            level: .info, message: "said", metadata: ["enrollment": "this"], source: nil, file: #fileID,
            function: #function, line: #line)
        #expect(handler.line(of: event) == "<6>said enrollment=this issuer=\"its own\"")
    }

    @Test func `a change reaches each logger, and one with a level of its own is never louder than that`() {
        let tuning = LogTuning(.text, .error)
        let log = Logger(label: "all") { _ in LineLogHandler(tuning) }
        var quiet = log
        quiet.logLevel = .notice
        #expect([log.logLevel, quiet.logLevel] == [.error, .error])
        tuning.set(.json, .debug)
        #expect([log.logLevel, quiet.logLevel] == [.debug, .notice])
        tuning.set(.json, .warning)
        #expect([log.logLevel, quiet.logLevel] == [.warning, .warning])
    }
}
