import Testing

/// The units and the package, in a systemd of their own; most need root.
@Suite struct SystemScripts {
    @Test func `the units work under a real systemd`() async throws {
        try await OutsideScript.run("test_systemd.py")
    }

    @Test func `one host runs several agents`() async throws {
        try await OutsideScript.run("test_systemd_instances.py")
    }

    @Test func `a unit recovers from a taken port and a full disk`() async throws {
        try await OutsideScript.run("test_systemd_passing.py")
    }

    @Test func `a unit speaks only to what it may`() async throws {
        try await OutsideScript.run("test_systemd_reach.py")
    }

    @Test func `a unit that cannot start says why`() async throws {
        try await OutsideScript.run("test_systemd_trouble.py")
    }

    @Test func `the commands for the service do what the pages say`() async throws {
        try await OutsideScript.run("test_service.py")
    }

    @Test func `the service's config decides whose socket it is`() async throws {
        try await OutsideScript.run("test_service_settings.py")
    }

    @Test func `the page about several hosts sets up what it says`() async throws {
        try await OutsideScript.run("test_hosts_page.py")
    }

    @Test func `the Debian packages hold what they should`() async throws {
        try await OutsideScript.run("test_package.py")
    }

    @Test func `the programs of a package ask ICU in English`() async throws {
        try await OutsideScript.run("test_icu_data.py")
    }

    @Test func `the Debian packages install, upgrade, remove and purge`() async throws {
        try await OutsideScript.run("test_installation.py")
    }

    @Test func `the packages' postinst says which service does not start again`() async throws {
        try await OutsideScript.run("test_postinst.py")
    }
}
