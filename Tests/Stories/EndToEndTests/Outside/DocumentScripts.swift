import Testing

/// The pages, the examples and what reports on tests.
@Suite struct DocumentScripts {
    @Test func `the pages point to what exists`() async throws {
        try await OutsideScript.run("test_documents.py")
    }

    @Test func `help texts and man pages are the reviewed ones`() async throws {
        try await OutsideScript.run("test_help.py")
    }

    @Test func `the tutorial's steps work as they are written`() async throws {
        try await OutsideScript.run("test_tutorial.py")
    }

    @Test func `the demo keeps what it made with a check that holds, or nothing`() async throws {
        try await OutsideScript.run("test_demo.py")
    }

    @Test func `the example issuer works as a newcomer starts it`() async throws {
        try await OutsideScript.run("test_example.py")
    }

    @Test func `the examples for test suites run`() async throws {
        try await OutsideScript.run("test_examples.py")
    }

    @Test func `files for a host are as schemas have them, and a release makes the changelog`() async throws {
        try await OutsideScript.run("test_project_files.py")
    }

    @Test func `a test that was skipped, did not run or hung is not taken for proof`() async throws {
        try await OutsideScript.run("test_results.py")
    }

    @Test func `a long check that did not pass on this commit is run, and its page lists every one`() async throws {
        try await OutsideScript.run("test_long_test.py")
    }
}
