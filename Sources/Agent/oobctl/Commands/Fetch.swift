import ArgumentParser
import Control

struct Fetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Fetch now, at every issuer; prints how many requests are pending.")

    @OptionGroup var enrollment: EnrollmentOption
    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.withAgent { client, output throws(ClientError) in
            let answer = try await client.fetch(FetchCommand(enrollment: enrollment.enrollment))
            try output.data(answer) { "\($0.pending) pending" }
            for failure in answer.failures { output.message("\(failure.issuer): \(failure.message)") }
            return answer.failures.isEmpty ? .done : .failed
        }
    }
}
