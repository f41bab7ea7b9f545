import Conformance
import StrictJSON
import Testing

@Suite struct CheckReportTests {
    @Test func `a report without a broken rule is in order`() {
        #expect(CheckReport(verdict: "inOrder", broken: nil, rows: [], decoded: [:]).isInOrder)
        #expect(!CheckReport(verdict: "refused", broken: "nonce", rows: [], decoded: [:]).isInOrder)
    }
}
