import Testing

@testable import Control

/// An enrollment code is a secret until it is used: a command carries it to the agent as JSON, and in no other form.
@Suite struct CommandRedactionTests {
    private static let secret = "4711-CODE"

    @Test func `no way of printing shows the code that a command or a link holds`() throws {
        let values: [any Sendable] = [
            EnrollCommand(issuer: "https://i.example", code: Self.secret, pin: PINText(Self.secret)),
            try EnrollLink("oob-enroll:?issuer=https%3A%2F%2Fi.example&code=\(Self.secret)"),
        ]
        for value in values {
            var (dumped, debugged) = ("", "")
            dump(value, to: &dumped)
            debugPrint(value, to: &debugged)
            let texts = [
                "\(value)", String(describing: value), String(reflecting: value), dumped, debugged, "\([value])",
            ]
            for text in texts { #expect(!text.contains("4711") && text.contains("<redacted>"), "\(text)") }
        }
    }

    @Test func `the JSON of a command holds it`() throws {
        let command = EnrollCommand(issuer: "https://i.example", code: Self.secret)
        let json = String(decoding: try ControlJSON.encode(command), as: UTF8.self)
        #expect(json == #"{"code":"4711-CODE","issuer":"https://i.example"}"#)
    }
}
