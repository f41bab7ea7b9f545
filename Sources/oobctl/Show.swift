import ArgumentParser
import Control

struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
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
        try await common.run { client, output throws(ClientFailure) in
            let request = try await client.request(id: id, enrollment: enrollment.enrollment)
            try output.data(request, text: Self.text)
            return .done
        }
    }

    /// The agent's text as it is (it is escaped already), then the state.
    private static func text(_ request: RequestView) -> String {
        let state = Fields([
            ("ID", request.id), ("jti", request.jti), ("acsTransId", request.acsTransId),
            ("State", request.state.rawValue), ("Reason", request.reason), ("Refusal", request.refusal),
            ("Delivery", request.delivery.rawValue), ("transStatus", request.transStatus),
            ("Received", request.receivedAt), ("Expires", request.expiresAt), ("Decided", request.decidedAt),
        ])
        return request.text.map { $0 + "\n\n" + state.text } ?? state.text
    }
}
