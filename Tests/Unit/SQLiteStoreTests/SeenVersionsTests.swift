import Records
import Testing

@testable import StoreTables

/// The versions of rows that a process remembers while surveys read them.
struct SeenVersionsTests {
    private let seen = SeenVersions()

    private func row() throws -> SealedRow {
        .keyTries(try #require(KeyIdentity(bytes: Array(repeating: 1, count: 32))))
    }

    private func write(_ row: SealedRow, version: Int64) {
        let written = Written()
        written.state.versions[row] = RowVersion(number: version, pinEpoch: 0, failures: 0)
        seen.record(written)
    }

    @Test func `a row that was written after a survey began is not told as older by what that one reads`() throws {
        let row = try row()
        write(row, version: 1)
        let survey = seen.beginSurvey()
        write(row, version: 2)
        #expect(!seen.record(row, RowMark(version: 1, seal: []), in: survey))
        #expect(seen[row]?.number == 2)
    }

    @Test func `a row that was written before a survey began is older if that one reads an older one`() throws {
        let row = try row()
        write(row, version: 2)
        #expect(seen.record(row, RowMark(version: 1, seal: []), in: seen.beginSurvey()))
    }
}
