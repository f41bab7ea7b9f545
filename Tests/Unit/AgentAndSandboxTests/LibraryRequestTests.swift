import FoundationEssentials
import NIOCore
import RawHTTP
import ServedSandbox
import StrictJSON
import Testing
import TextAndTime

/// Requests of other people's HTTP clients and push libraries (`Tests/Fixtures/Libraries`), over a socket to the real servers.
@Suite(.timeLimit(.minutes(20)))
struct LibraryRequestTests {
    /// A request as a library sends it, and what becomes of it.
    struct Message: Sendable, CustomTestStringConvertible {
        let library: String
        let kind: String
        let what: String
        let value: JSONObject
        let outcome: String
        /// Words of the answer.
        let reason: String?

        var testDescription: String { "\(library): \(what)" }
    }

    private struct Malformed: Error { let file: String }

    static let messages: [Message] = (try? read()) ?? []

    private static func read() throws -> [Message] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fixtures/Libraries")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        return try files.sorted().flatMap { (name) -> [Message] in
            let bytes = [UInt8](try Data(contentsOf: folder.appending(path: name)))
            let fixture = try JSONReader.object(bytes, limits: JSONLimits(maxBytes: 1_048_576))
            return try fixture.array("messages").compactMap { (element) -> Message? in
                guard case .object(let message) = element else { throw Malformed(file: name) }
                let kind = try message.string("kind")
                guard ["httpRequest", "push"].contains(kind) else { return nil }
                return Message(
                    library: try fixture.string("library"), kind: kind, what: try message.string("what"),
                    value: try message.object("value"), outcome: try message.string("outcome"),
                    reason: try message.optionalString("reason"))
            }
        }
    }

    @Test func `each library has its requests`() {
        let libraries = Set(Self.messages.map(\.library))
        let expected: Set = ["curl", "dotnet-httpclient", "java-httpclient", "pywebpush", "web-push-php", "wget"]
        #expect(expected.isSubset(of: libraries))
    }

    @Test(arguments: messages) func `a request as a library sends it is answered as its fixture says`(
        message: Message
    ) async throws {
        let head = try message.value.string("head", bytes: 1...8_192)
        let body = try message.value.string("body", bytes: 0...16_384)
        if message.kind == "httpRequest" {
            try await LocalSandbox.run { sandbox in
                try await sandbox.addAuthenticators([SampleMember(1)])
                try await check(message, head: head, body: Array(body.utf8), RawHTTP(port: sandbox.port))
            }
        } else {
            let bytes = try #require(Base64URL.decode(body))
            let vapidKey = try message.value.base64url("vapidKey", bytes: 65...65)
            try await PushPort.run(
                endpoint: message.value.string("endpoint"), vapidKey: vapidKey, now: message.value.integer("at")
            ) { try await check(message, head: head, body: bytes, $0.http) }
        }
    }

    private func check(_ message: Message, head: String, body: [UInt8], _ http: RawHTTP) async throws {
        var answer = ""
        try await http.connected { inbound, outbound in
            var received = ReceivedText(inbound)
            try await outbound.write(ByteBuffer(string: head))
            if head.lowercased().contains("expect: 100-continue") {
                #expect(try await received.next(to: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            }
            try await outbound.write(ByteBuffer(bytes: body))
            answer = try await received.next(to: "\r\n\r\n")
            guard message.outcome == "refused" else { return }
            answer += try await received.next(to: "}")
        }
        let status = try #require(Int(answer.split(separator: " ").dropFirst().first ?? ""), "\(answer)")
        #expect(message.outcome == (status < 400 ? "taken" : "refused"), "\(answer)")
        if let reason = message.reason { #expect(answer.contains(reason), "\(answer)") }
    }
}
