import Foundation
import Testing

/// Libraries that share no code with this project check what the real programs say and sign.
@Suite struct OutsideParties {
    @Test(arguments: [
        "test_issuer.py", "test_agent.py", "test_sandbox.py", "test_spc.py", "test_example.py", "test_examples.py",
        "test_openapi.py", "test_threats.py", "test_audit.py", "test_backup.py", "test_faults.py", "test_road.py",
        "test_documents.py", "test_crashes.py", "test_database.py", "test_keys.py", "test_pin.py", "test_hygiene.py",
        "test_evidence.py", "test_push.py", "test_push_in_front.py", "test_push_sent.py",
        "test_control_api.py", "test_control_access.py", "test_control_client.py", "test_enroll.py", "test_prompt.py",
        "test_prompt_screens.py", "test_qr.py", "test_help.py", "test_completion.py", "test_metrics.py",
        "test_operations.py", "test_configuration.py",
        "test_supervised.py", "test_systemd.py", "test_systemd_reach.py", "test_systemd_trouble.py",
        "test_systemd_instances.py", "test_systemd_passing.py", "test_service.py", "test_service_settings.py",
        "test_package.py", "test_installation.py",
    ])
    func `Python's webauthn, fido2, jwcrypto and rfc8785 agree with the programs`(script: String) async throws {
        let python = BuiltPrograms.checkout.appending(path: ".venv/bin/python").path()
        try #require(
            FileManager.default.isExecutableFile(atPath: python),
            "there is no .venv/bin/python: `make test` sets it up")
        let programs = try #require(BuiltPrograms.directory).path()
        try await Scenario.run { scenario in
            let child = try Child(
                python, ["-B", BuiltPrograms.checkout.appending(path: "Tests/Outside/\(script)").path()],
                environment: ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "OOB_BIN_DIR": programs],
                files: "\(scenario.folder)/python")
            let status = try await child.exitStatus(within: .seconds(900))
            #expect(status == 0, "\(child.output)\n\(child.errors)")
        }
    }
}
