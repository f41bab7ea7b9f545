import Glibc
import Testing

/// A decision whose answer is lost: it is said that nobody knows, and nothing is decided after the deadline.
@Suite struct LostAnswerTests {
    @Test func `an agent that is stopped when it is asked leaves it open, exit 11, and decides nothing later`()
        async throws
    {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = try await sandbox.purchase()
            _ = try await agent.received(id)
            #expect(kill(agent.pid, SIGSTOP) == 0)
            let lost = try await agent.attempt("approve", id, "--delivery-timeout", "0")
            #expect(kill(agent.pid, SIGCONT) == 0)
            #expect(lost.status == 11, "\(lost)")
            #expect(lost.output.isEmpty && lost.errors.contains("Nothing is decided after"))
            // The call that waited in the socket is looked at by now, and came too late.
            #expect(try await agent.json("show", id)["state"] == "pending")
            try await agent.ctl("approve", id)
            #expect(try await sandbox.ending(id)["status"] == "authenticated")
        }
    }
}
