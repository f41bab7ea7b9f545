import Foundation
import Testing

/// `oobctl evidence`: what it writes where, and that nothing is left half done.
@Suite struct EvidenceTests {
    private func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    @Test func `an ID that nobody knows exits 3, and one that could be none exits 64; nothing is written`() async throws
    {
        try await Scenario.run { scenario in
            let (_, agent) = try await scenario.enrolled()
            let target = "\(scenario.folder)/evidence"
            let unknown = try await agent.ctl("evidence", "ffff", "-o", target, exits: 3)
            #expect(unknown.errors.contains("no request ffff"))
            try await agent.ctl("evidence", "no id", "-o", target, exits: 64)
            try await agent.ctl("evidence", "ffff", "-o", "", exits: 64)
            #expect(try names(in: scenario.folder).allSatisfy { !$0.contains("evidence") })
        }
    }

    @Test func `an empty directory is filled, and anything else that is there stays as it is`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let purchase = try await sandbox.purchase()
            try await agent.ctl("approve", purchase, "--wait", "60")
            let target = "\(scenario.folder)/evidence"
            try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
            let answer = try await agent.json("evidence", purchase, "-o", "\(target)/")
            #expect(answer["directory"] == .string(target))
            let written = try names(in: target)
            #expect(written == answer["files"].elements.compactMap(\.text).sorted() && written.count == 16)

            let before = FileManager.default.contents(atPath: "\(target)/README.md")
            let refused = try await agent.ctl("evidence", purchase, "-o", target, exits: 1)
            #expect(refused.errors.contains("is there, and is no empty directory"))
            #expect(FileManager.default.contents(atPath: "\(target)/README.md") == before)

            let file = "\(scenario.folder)/evidence.txt"
            try Data("kept".utf8).write(to: URL(filePath: file))
            let link = "\(scenario.folder)/evidence.link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
            for path in [file, link, "\(scenario.folder)/none/evidence", "/", ".", "\(scenario.folder)/.."] {
                try await agent.ctl("evidence", purchase, "-o", path, exits: 1)
            }
            #expect(FileManager.default.contents(atPath: file) == Data("kept".utf8))
            #expect(try names(in: target) == written)
            #expect(try names(in: scenario.folder).allSatisfy { !$0.hasSuffix("partial") })
        }
    }

    @Test func `a place that takes no directory is a clear error`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let purchase = try await sandbox.purchase()
            try await agent.ctl("deny", purchase, "--wait", "60")
            // A file system that takes no directory, also from root.
            let refused = try await agent.ctl("evidence", purchase, "-o", "/proc/evidence", exits: 1)
            #expect(refused.errors.contains("/proc/evidence cannot be made"))
            #expect(refused.output.isEmpty)
        }
    }
}
