import Foundation
import ScratchDirectories
import SpawnedProcesses
import Testing

@testable import AgentHost

/// Against copies of the kernel's files: no test can put itself into such a group.
@Suite struct ControlGroupTests {
    let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func neverSwaps(in membership: String, _ limits: [String: String]) throws -> Bool {
        let (file, mount) = (scratch.path + "/membership", scratch.path + "/groups")
        try membership.write(toFile: file, atomically: false, encoding: .utf8)
        for (group, limit) in limits {
            try FileManager.default.createDirectory(atPath: mount + group, withIntermediateDirectories: true)
            try limit.write(toFile: mount + group + "/memory.swap.max", atomically: false, encoding: .utf8)
        }
        return ControlGroup.neverSwaps(membership: file, mount: mount)
    }

    @Test func `a limit of 0 on the process's group, or on one above, lets nothing be swapped`() throws {
        let membership = "1:name=systemd:/other\n0::/system.slice/oob-agent.service\n"
        let (slice, service) = ("/system.slice", "/system.slice/oob-agent.service")
        #expect(try neverSwaps(in: membership, [service: "max\n"]) == false)
        #expect(try neverSwaps(in: membership, [service: "4096\n", slice: "max\n"]) == false)
        #expect(try neverSwaps(in: membership, [service: "0\n"]))
        #expect(try neverSwaps(in: membership, [service: "max\n", slice: "0\n"]))
    }

    @Test func `the limit of another group says nothing about the process`() throws {
        let limits = ["/a": "0\n", "/a/b/c": "0\n", "/b": "max\n"]
        #expect(try neverSwaps(in: "0::/b\n", limits) == false)
        #expect(try neverSwaps(in: "5:memory:/a\n0::/\n", limits) == false)
        #expect(try neverSwaps(in: "0::/b/../a\n", limits) == false)
    }

    @Test func `if it cannot be told it may be swapped`() throws {
        #expect(ControlGroup.neverSwaps(membership: scratch.path + "/none", mount: scratch.path) == false)
        #expect(try neverSwaps(in: "0::/gone\n", [:]) == false)
        #expect(try neverSwaps(in: "", ["/": "0\n"]) == false)
    }
}
