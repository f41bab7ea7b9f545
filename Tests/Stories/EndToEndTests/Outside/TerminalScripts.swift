import Testing

/// The commands as a person or a script uses them.
@Suite struct TerminalScripts {
    @Test func `requests are looked at and decided in a browser, and nobody else's page can`() async throws {
        try await OutsideScript.run("test_inbox.py")
    }

    @Test func `other users of the machine reach no page of requests`() async throws {
        try await OutsideScript.run("test_inbox_peers.py")
    }

    @Test func `sessions of the page of requests end, and the page says how to go on`() async throws {
        try await OutsideScript.run("test_inbox_sessions.py")
    }

    @Test func `a GET and a HEAD change nothing, at any path of any program`() async throws {
        try await OutsideScript.run("test_safe_methods.py")
    }

    @Test func `the page of requests works in a browser, under attack and by keyboard`() async throws {
        try await OutsideScript.run("test_inbox_browser.py")
    }

    @Test func `the sandbox's page makes purchases and shows what came`() async throws {
        try await OutsideScript.run("test_sandbox_page.py")
    }

    @Test func `the page of requests is behind a proxy, on a desktop and in a file`() async throws {
        try await OutsideScript.run("test_inbox_ways.py")
    }

    @Test func `the sandbox's page takes nothing from pages of others`() async throws {
        try await OutsideScript.run("test_sandbox_page_attacks.py")
    }

    @Test func `the sandbox's page grows in a browser, and works by keyboard and without scripts`() async throws {
        try await OutsideScript.run("test_sandbox_page_browser.py")
    }

    @Test func `the prompt shows a request and decides on a clear answer only`() async throws {
        try await OutsideScript.run("test_prompt.py")
    }

    @Test func `tmux draws the prompt as a person should see it`() async throws {
        try await OutsideScript.run("test_prompt_screens.py")
    }

    @Test func `a person enrolls at a terminal`() async throws {
        try await OutsideScript.run("test_enroll.py")
    }

    @Test func `a PIN is asked for at a terminal, and a kill gains no try`() async throws {
        try await OutsideScript.run("test_pin.py")
    }

    @Test func `the Tab key completes in bash, zsh and fish`() async throws {
        try await OutsideScript.run("test_completion.py")
    }

    @Test func `a merchant's text is not taken for oobctl's, nor another user for the agent`() async throws {
        try await OutsideScript.run("test_control_client.py")
    }

    @Test func `the sandbox sends what the page of EMV outcomes says, row by row`() async throws {
        try await OutsideScript.run("test_emv_outcomes.py")
    }
}
