import ArgumentParser
import Control

struct Unenroll: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unenroll",
        abstract: "End an enrollment; one that is gone already is no error.",
        usage: "oobctl unenroll <id> [<options>]")

    @Argument(help: "The enrollment's name or ID.", completion: .enrollments)
    var id: String

    @Flag(help: "End it here only, without telling the issuer.")
    var local = false

    @Flag(help: "Do not wait for decisions that are not delivered yet.")
    var force = false

    @Flag(help: "Remove its personal data as well, also if it has ended before: texts, names, messages.")
    var erase = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        try Usage.checkEnrollment(id)
    }

    func run() async throws {
        let command = UnenrollCommand(local: local, force: force, erase: erase)
        try await common.withAgent { client, output throws(ClientError) in
            let answer = try await client.unenroll(id: id, command)
            try output.data(answer) { _ in "" }
            output.message(answer.wasEnrolled ? "Unenrolled \(id)." : "There is no enrollment \(id) any more.")
            if let uri = answer.keptKeyUri {
                output.message("The agent did not make its key \(TerminalText.escaped(uri)), and leaves it there.")
            }
            guard erase else { return .done }
            guard answer.erased == true else {
                output.message("Its personal data is not all erased yet; the agent goes on by itself.")
                return .queued
            }
            output.message("Its personal data is erased.")
            return .done
        }
    }
}
