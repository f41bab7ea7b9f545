@testable import Control

/// What the client makes of an answer, for tests.
enum ControlAnswerReading {
    static func read<Answer: Decodable>(_ bytes: [UInt8], as type: Answer.Type) -> Answer? {
        try? ControlAnswer(status: 200, contentType: "application/json", body: bytes).read(as: type)
    }

    /// The failure that a client sees for an answer; nil where it sees none.
    static func failure(status: UInt, contentType: String?, body: String) -> ClientError? {
        let answer = ControlAnswer(status: status, contentType: contentType, body: Array(body.utf8))
        do throws(ClientError) {
            _ = try answer.read(as: HealthView.self)
            return nil
        } catch {
            return error
        }
    }
}
