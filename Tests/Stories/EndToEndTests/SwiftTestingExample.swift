import Foundation
import Testing

/// examples/swift-testing, as its reader runs it: a package of its own, with the programs as they were built.
@Suite struct SwiftTestingExample {
    private static let example = BuiltPrograms.checkout.appending(path: "examples/swift-testing")

    /// What `swift test` says of a package.
    private func tested(_ package: URL, scratch: String, _ scenario: Scenario) async throws -> (Int32?, String) {
        let variables = ProcessInfo.processInfo.environment
        let path = try #require(variables["PATH"])
        let swift = "\(try #require(Toolchain.folder, "there is no swift on PATH"))/swift"
        let programs = try #require(BuiltPrograms.directory).path()
        let child = try Child(
            swift,
            [
                "test", "--package-path", package.path(),
                "--scratch-path", BuiltPrograms.checkout.appending(path: ".build/\(scratch)").path(),
            ],
            environment: ["PATH": path, "HOME": variables["HOME"] ?? "/", "OOB_BIN_DIR": programs],
            files: "\(scenario.folder)/\(scratch)")
        let status = try await child.exitStatus(within: .seconds(900))
        return (status, child.output + child.errors)
    }

    @Test func `it builds by itself with the library, and its six tests pass`() async throws {
        try await Scenario.run { scenario in
            let (status, said) = try await tested(Self.example, scratch: "swift-testing-example", scenario)
            #expect(status == 0, "\(said)")
            #expect(said.contains("Test run with 6 tests in 2 suites passed"), "\(said)")
        }
    }

    @Test func `a test that fails tells the messages of its own purchases`() async throws {
        try await Scenario.run { scenario in
            let package = URL(filePath: scenario.folder).appending(path: "failing")
            try FileManager.default.copyItem(at: Self.example, to: package)
            try change("Package.swift", of: package, "../..", to: BuiltPrograms.checkout.path())
            let tests = "Tests/PaymentTests/PaymentTests.swift"
            try change(tests, of: package, #""alteredAmount": "challenge""#, to: #""alteredAmount": "origin""#)
            let (status, said) = try await tested(package, scratch: "swift-testing-failing", scenario)
            #expect(status == 1, "\(said)")
            let stories = said.split(separator: "\n").filter { $0.contains(": purchase ") }
            #expect(stories.count == 1, "\(said)")
            #expect(stories.first?.contains(#""messageType":"AReq""#) == true, "\(said)")
        }
    }

    private func change(_ file: String, of package: URL, _ old: String, to new: String) throws {
        let url = package.appending(path: file)
        let text = try String(contentsOf: url, encoding: .utf8)
        try #require(text.contains(old))
        try text.replacing(old, with: new).write(to: url, atomically: true, encoding: .utf8)
    }
}
