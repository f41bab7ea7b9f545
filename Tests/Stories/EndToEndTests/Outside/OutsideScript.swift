import Foundation
import Testing

/// A Python script of Tests: the real programs against tools and libraries that share no code with this project.
enum OutsideScript {
    static let tests = BuiltPrograms.checkout.appending(path: "Tests")
    /// For one script; recorded.py ends a single test sooner, and Scripts/test all of them later.
    private static let limit = Duration.seconds(1_800)

    /// Runs all tests of one script.
    static func run(_ script: String) async throws {
        let python = BuiltPrograms.checkout.appending(path: ".venv/bin/python").path()
        try #require(
            FileManager.default.isExecutableFile(atPath: python),
            "there is no .venv/bin/python: `make test` sets it up")
        let programs = try #require(BuiltPrograms.directory).path()
        try await Scenario.run { scenario in
            let path = ["/usr/bin", "/bin"] + [Toolchain.folder].compactMap(\.self)
            var environment = ["PATH": path.joined(separator: ":"), "LANG": "C.UTF-8", "OOB_BIN_DIR": programs]
            // How the packages were built, and where each test's end is kept.
            for name in ["OPTIMIZATION", "OOB_TEST_RESULTS"] {
                environment[name] = ProcessInfo.processInfo.environment[name]
            }
            let child = try Child(
                python, ["-B", tests.appending(path: "Stories/recorded.py").path(), script],
                environment: environment, files: "\(scenario.folder)/python")
            let status = try await child.exitStatus(within: limit, cleaningUpFor: .seconds(60))
            #expect(status == 0, "\(child.output)\n\(child.errors)")
        }
    }
}

/// Commands of the programs with all that they print.
@Suite struct TextScripts {
    static let folder = OutsideScript.tests.appending(path: "Stories/texts")

    @Test(arguments: try FileManager.default.contentsOfDirectory(atPath: folder.path()).filter { $0.hasSuffix(".t") })
    func `the programs print what the text script has`(script: String) async throws {
        try await OutsideScript.run(script)
    }
}

@Suite struct OutsideScriptTests {
    @Test func `every Python script is run by one test, and no test runs a script that is gone`() throws {
        let suites = URL(filePath: #filePath).deletingLastPathComponent()
        let run = try FileManager.default.contentsOfDirectory(at: suites, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "swift" }
            .flatMap { try String(contentsOf: $0, encoding: .utf8).matches(of: #/OutsideScript\.run\("(.+?)"\)/#) }
            .map { String($0.1) }
        let scripts = try FileManager.default.contentsOfDirectory(atPath: OutsideScript.tests.path())
            .flatMap {
                (try? FileManager.default.contentsOfDirectory(atPath: "\(OutsideScript.tests.path())/\($0)")) ?? []
            }
            .filter { $0.hasPrefix("test_") && $0.hasSuffix(".py") }
        #expect(!scripts.isEmpty)
        #expect(run.sorted() == scripts.sorted())
    }
}
