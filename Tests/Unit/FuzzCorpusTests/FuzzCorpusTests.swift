import FoundationEssentials
import Testing

/// The seeds that the fuzzers start from, and what the fuzzers have found, in every run of the tests.
struct FuzzCorpusTests {
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fixtures/FuzzCorpus").standardized

    @Test(arguments: FuzzTarget.allCases)
    func `the properties of a target hold for each of its seeds`(target: FuzzTarget) async throws {
        let names = try Self.names(in: target.rawValue)
        #expect(names.count >= 2)
        for name in names {
            let bytes = try Data(contentsOf: Self.directory.appending(path: "\(target.rawValue)/\(name)"))
            await #expect(throws: Never.self, "\(target.rawValue)/\(name)") {
                try await target.check([UInt8](bytes))
            }
        }
    }

    @Test func `every folder of seeds is a target's`() throws {
        #expect(try Self.names(in: "") == FuzzTarget.allCases.map(\.rawValue).sorted())
    }

    @Test func `a property that does not hold is told`() {
        #expect(throws: Broken.self) { try mustHold(false, "it holds") }
        #expect(throws: Broken.self) { try mustBeOneLine("a\u{1B}b", "a text") }
        #expect(throws: Broken.self) { try mustBeOneLine(String(repeating: "a", count: 4_097), "a text") }
        #expect(throws: Broken.self) { try TextChecks.mustBeFitToShow("a\u{202E}") }
    }

    private static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.appending(path: folder).path).sorted()
    }
}
