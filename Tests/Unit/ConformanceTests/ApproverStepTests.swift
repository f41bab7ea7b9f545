import Conformance
import Testing

@Suite struct ApproverCaseTests {
    @Test func `the approver's cases are read, and no two have one name`() throws {
        let headers = try ApproverCases(in: RequestCases.directory).headers
        #expect(headers.count > 430)
        #expect(Set(headers.map(\.name)).count == headers.count)
    }
}
