import Testing

/// Parties that nobody here wrote, on both sides of what the programs say and sign.
@Suite struct InteropScripts {
    @Test func `webauthn, fido2, jwcrypto and rfc8785 agree with what the agent signs`() async throws {
        try await OutsideScript.run("test_agent.py")
    }

    @Test func `outside libraries agree with what agent and sandbox said to each other`() async throws {
        try await OutsideScript.run("test_sandbox.py")
    }

    @Test func `merchants get their return URL byte for byte, and one result`() async throws {
        try await OutsideScript.run("test_merchants.py")
    }

    @Test func `every statement of the protocol page has a case, or a reason why it has none`() async throws {
        try await OutsideScript.run("test_conformance.py")
    }

    @Test func `the guide to an issuer's back end holds, and the examples pass the kit`() async throws {
        try await OutsideScript.run("test_issuer_guide.py")
    }

    @Test func `issuers by golang-jwt, and by python-fido2 and PyJWT, authenticate a payment`() async throws {
        try await OutsideScript.run("test_library_issuers.py")
    }

    @Test func `a sample of the wrong issuers is caught by the conformance kit`() async throws {
        try await OutsideScript.run("test_conform_proof.py")
    }

    @Test func `a verifier without any of our code judges the vectors as they say`() async throws {
        try await OutsideScript.run("test_vectors.py")
    }

    @Test func `the outside issuer takes what is right and refuses what is wrong in one member`() async throws {
        try await OutsideScript.run("test_issuer.py")
    }

    @Test func `outside verifiers and a browser's form agree on Secure Payment Confirmation`() async throws {
        try await OutsideScript.run("test_spc.py")
    }

    @Test func `schemathesis finds the sandbox to be what its OpenAPI files describe`() async throws {
        try await OutsideScript.run("test_openapi.py")
    }

    @Test func `schemathesis finds the agent to be what its OpenAPI file describes`() async throws {
        try await OutsideScript.run("test_control_api.py")
    }

    @Test func `the agent takes what pywebpush and py_vapid push, and nothing else`() async throws {
        try await OutsideScript.run("test_push.py")
    }

    @Test func `http_ece and py_vapid read what the sandbox pushes`() async throws {
        try await OutsideScript.run("test_push_sent.py")
    }

    @Test func `pushes arrive through nginx, Caddy and a push service`() async throws {
        try await OutsideScript.run("test_push_in_front.py")
    }

    @Test func `the agent reaches its issuers through TLS, client certificates and an HTTP proxy`() async throws {
        try await OutsideScript.run("test_road.py")
    }

    @Test func `the page on keys works with SoftHSM and swtpm`() async throws {
        try await OutsideScript.run("test_keys.py")
    }

    @Test func `the journal is recomputed without the agent's code, and tampering is found`() async throws {
        try await OutsideScript.run("test_audit.py")
    }

    @Test func `openssl and coreutils check an evidence, and notice every change`() async throws {
        try await OutsideScript.run("test_evidence.py")
    }

    @Test func `Python's sqlite3 and hashlib read a backup`() async throws {
        try await OutsideScript.run("test_backup.py")
    }

    @Test func `Prometheus' parser reads the metrics`() async throws {
        try await OutsideScript.run("test_metrics.py")
    }
}
