import Control
import Testing

struct ExitStatusTests {
    struct Row: Sendable {
        let decision: Decision
        let delivery: DeliveryState
        let transStatus: String?
        let exit: Int32
    }

    static let table = [
        Row(decision: .approve, delivery: .delivered, transStatus: "Y", exit: 0),
        Row(decision: .approve, delivery: .delivered, transStatus: "N", exit: 10),
        Row(decision: .approve, delivery: .delivered, transStatus: nil, exit: 10),
        Row(decision: .deny, delivery: .delivered, transStatus: "N", exit: 0),
        Row(decision: .deny, delivery: .delivered, transStatus: "Y", exit: 10),
        Row(decision: .approve, delivery: .failed, transStatus: nil, exit: 10),
        Row(decision: .deny, delivery: .failed, transStatus: nil, exit: 10),
        Row(decision: .approve, delivery: .queued, transStatus: nil, exit: 75),
        Row(decision: .deny, delivery: .queued, transStatus: nil, exit: 75),
        Row(decision: .approve, delivery: .none, transStatus: nil, exit: 1),
    ]

    @Test(arguments: table) func `an answered decision has its exit status`(row: Row) {
        var view = RequestView(
            id: "r1", jti: "j1", acsTransId: "a1", enrollmentId: "e1", issuer: "https://issuer.example",
            state: row.decision == .approve ? .approved : .denied, delivery: row.delivery,
            receivedAt: "2023-10-17T05:56:39Z")
        view.transStatus = row.transStatus
        #expect(row.decision.exitStatus(for: view).rawValue == row.exit)
    }

    @Test func `an agent that is not reached is 69 with D1's number for it`() {
        let failure = ClientError.unreachable("gone")
        #expect(failure.exitStatus.rawValue == 69)
        #expect(failure.d1Code.rawValue == 70006)
    }

    @Test func `an answer that did not come is 1, and no promise that nothing was done`() {
        #expect(ClientError.unclear("cut off").exitStatus.rawValue == 1)
        #expect(ClientError.unclear("cut off").d1Code == .core)
    }

    @Test func `a decision whose answer was lost is 11`() {
        #expect(ClientError.unknown("cut off").exitStatus.rawValue == 11)
        #expect(ClientError.unknown("cut off").d1Code == .core)
    }
}
