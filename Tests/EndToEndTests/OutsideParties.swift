import Foundation
import Testing

/// Libraries that share no code with this project check what the real programs say and sign.
///
/// Whatever Tests/Outside has of the name test_*.py is run, each by itself: a new script needs no entry in a list.
@Suite struct OutsideParties {
    private static let folder = BuiltPrograms.checkout.appending(path: "Tests/Outside")
    /// Empty where the folder cannot be read; that is a failure of a test of its own.
    static let scripts = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? [])
        .filter { $0.hasPrefix("test_") && $0.hasSuffix(".py") }.sorted()
    /// For one script; recorded.py ends a single test sooner, and Scripts/test all of them later.
    private static let limit = Duration.seconds(900)

    @Test(arguments: scripts)
    func `Python's webauthn, fido2, jwcrypto and rfc8785 agree with the programs`(script: String) async throws {
        let python = BuiltPrograms.checkout.appending(path: ".venv/bin/python").path()
        try #require(
            FileManager.default.isExecutableFile(atPath: python),
            "there is no .venv/bin/python: `make test` sets it up")
        let programs = try #require(BuiltPrograms.directory).path()
        try await Scenario.run { scenario in
            var environment = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "OOB_BIN_DIR": programs]
            environment["OOB_TEST_RESULTS"] = ProcessInfo.processInfo.environment["OOB_TEST_RESULTS"]
            let child = try Child(
                python, ["-B", Self.folder.appending(path: "recorded.py").path(), script],
                environment: environment, files: "\(scenario.folder)/python")
            let status = try await child.exitStatus(within: Self.limit, cleaningUpFor: .seconds(60))
            #expect(status == 0, "\(child.output)\n\(child.errors)")
        }
    }

    @Test(arguments: [
        "test_issuer.py", "test_threats.py", "test_documents.py", "test_unread_log.py", "test_systemd.py",
    ])
    func `a script of the folder is among those that run`(script: String) {
        #expect(Self.scripts.contains(script))
    }
}
