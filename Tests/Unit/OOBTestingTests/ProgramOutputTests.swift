import Foundation
import Testing

@testable import OOBTesting

/// What test suites of others read of the programs, and show of it.
struct ProgramOutputTests {
    private func shell(_ script: String) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", script]
        process.standardInput = FileHandle.nullDevice
        return process
    }

    @Test(.timeLimit(.minutes(20)))
    func `a program may fill both outputs in whatever order`() async throws {
        let script = "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; echo over"
        let process = shell(script)
        let printed = try await blocking { try output(of: process) }
        #expect(printed.data.count == 300_005)
        #expect(printed.text.hasSuffix("over"))
    }

    @Test(.timeLimit(.minutes(20)), arguments: ["", ">&2"])
    func `a program that writes without end is ended at the bound`(whereto: String) async throws {
        let process = shell("exec cat /dev/zero \(whereto)")
        let error = await #expect(throws: OOBError.self) {
            try await blocking { try output(of: process, limit: 100_000) }
        }
        #expect(error?.description == "it wrote more than 100000 bytes")
        #expect(!process.isRunning)
    }

    @Test func `what a program says on standard error comes with its exit status, fit for a terminal`() async throws {
        let process = shell(#"printf 'Shop\302\233\342\200\256x' >&2; exit 4"#)
        let error = await #expect(throws: OOBError.self) { try await blocking { try output(of: process) } }
        #expect(error?.status == 4)
        #expect(error?.description == #"Shop\u009b\u202ex"#)
    }

    @Test func `no scalar that a terminal obeys or does not show is left, and all others are`() {
        let hostile = "\u{1B}[2J\u{9B}\u{202E}\u{2066}\u{200B}\u{E0041}\u{0}\r\u{AD}\u{2028}"
        let shown = ShownText.of("Café 日本 \(hostile)\n\"x\"")
        #expect(
            shown
                == "Café 日本 \\u001b[2J\\u009b\\u202e\\u2066\\u200b\\udb40\\udc41\\u0000\\u000d\\u00ad\\u2028\n\"x\"")
    }

    @Test func `a text of one letter and a million marks is cut by its bytes`() {
        let shown = ShownText.of("a" + String(repeating: "\u{301}", count: 1_000_000))
        #expect(shown.utf8.count <= ShownText.limit + 50)
        #expect(shown.hasSuffix("more bytes are left out)"))
    }
}
