import ArgumentParser
import Control

/// `oobctl push`.
struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push", abstract: "How issuers push to the agent.", subcommands: [Rotate.self])

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract: "Make a new push subscription, with a new address and key, for one enrollment or all.",
            discussion: """
                An enrollment is rotated at most once an hour, except by root and the agent's own user; of all, those that \
                are not due are left out.
                """)

        @Argument(help: "The enrollment's name or ID; all if it is left out.", completion: .enrollments)
        var id: String?

        @OptionGroup var common: CommonOptions

        func validate() throws {
            if let id { try Usage.checkEnrollment(id) }
        }

        func run() async throws {
            try await common.withAgent { client, output throws(ClientError) in
                let rotated = try await client.rotatePush(PushRotateCommand(enrollment: id))
                try output.data(rotated) { _ in "" }
                guard !rotated.open.isEmpty else {
                    output.message("The issuers push to the new addresses.")
                    return .done
                }
                for id in rotated.open {
                    output.message("The issuer of \(id) has not answered yet; the agent goes on trying.")
                }
                return .queued
            }
        }
    }
}
