import AgentHost
import Foundation
import Testing

@Suite struct StateClaimTests {
    @Test func `a claim that failed leaves the state directory to the next one`() throws {
        let state = FileManager.default.temporaryDirectory.appending(path: "oob-claim-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: state) }
        // Under the name of what a crash leaves, and no file, so that it cannot be removed as one.
        let inTheWay = state.appending(path: ".tmp-1")
        try FileManager.default.createDirectory(at: inTheWay, withIntermediateDirectories: true)
        let error = #expect(throws: StateClaimError.self) { try StateClaim.lock(state.path) }
        guard case .unusable? = error else {
            Issue.record("it is \(error.map { "\($0)" } ?? "nothing")")
            return
        }
        try FileManager.default.removeItem(at: inTheWay)
        #expect(throws: Never.self) { try StateClaim.lock(state.path) }
    }
}
