import ArgumentParser
import Control
import Prompting

struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one request as its payer sees it, and where it is in its life.")

    @Argument(
        help: "The request's ID, its jti, its acsTransId, or a unique prefix of one.", completion: .allRequests)
    var id: String

    @OptionGroup var enrollment: EnrollmentOption
    @OptionGroup var common: CommonOptions

    mutating func validate() throws {
        id = DashedIDs.unescaped(id)
        _ = try Usage.id(id)
    }

    func run() async throws {
        try await common.read { client, output throws(ClientError) in
            let request = try await client.request(id: id, enrollment: enrollment.enrollment)
            try output.data(request, lines: Self.lines)
            return .done
        }
    }

    /// The agent's text unchanged (it is escaped already), then the state.
    private static func lines(_ request: RequestView) -> [ScreenLine] {
        let state = Fields([
            ("ID", request.id), ("jti", request.jti), ("acsTransId", request.acsTransId),
            ("Warning", request.text == nil ? request.warnings.map(\.message).joined(separator: "; ") : nil),
            ("State", request.state.rawValue), ("Reason", request.reason), ("Refusal", request.refusal),
            ("Delivery", request.delivery.rawValue), ("transStatus", request.transStatus),
            ("Failure", request.deliveryFailure), ("Last try", request.deliveryError),
            ("Received", request.receivedAt), ("Expires", request.expiresAt), ("Decided", request.decidedAt),
        ])
        return .blocks([RequestScreen.plainLines(request.text ?? ""), state.lines])
    }
}
