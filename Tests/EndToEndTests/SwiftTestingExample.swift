import Foundation
import Testing

/// examples/swift-testing, as its reader runs it: a package of its own, with the programs as they were built.
@Suite struct SwiftTestingExample {
    @Test func `it builds by itself, and its four tests pass`() async throws {
        let variables = ProcessInfo.processInfo.environment
        let path = try #require(variables["PATH"])
        let swift = try #require(
            path.split(separator: ":").map { "\($0)/swift" }.first(where: FileManager.default.isExecutableFile),
            "there is no swift on PATH")
        let programs = try #require(BuiltPrograms.directory).path()
        try await Scenario.run { scenario in
            let child = try Child(
                swift,
                [
                    "test", "--package-path", BuiltPrograms.checkout.appending(path: "examples/swift-testing").path(),
                    "--scratch-path", BuiltPrograms.checkout.appending(path: ".build/swift-testing-example").path(),
                ],
                environment: ["PATH": path, "HOME": variables["HOME"] ?? "/", "OOB_BIN_DIR": programs],
                files: "\(scenario.folder)/example")
            let status = try await child.exitStatus(within: .seconds(900))
            #expect(status == 0, "\(child.output)\n\(child.errors)")
            let said = child.output + child.errors
            #expect(said.contains("Test run with 4 tests in 1 suite passed"), "\(said)")
        }
    }
}
