import ArgumentParser
import Control

/// `oobctl pin`.
struct PINCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin", abstract: "The PIN of an enrollment.", subcommands: [Change.self])

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "change",
            abstract: "Change the PIN of an enrollment; at a terminal asks for the old one and the new one.",
            usage: "oobctl pin change <id> [<options>]")

        @Argument(help: "The enrollment's name or ID.", completion: .enrollments)
        var id: String

        @Option(
            help: ArgumentHelp("The PIN that it has, in a file; - is standard input.", valueName: "file"),
            completion: .file())
        var pinFile: String?

        @Option(
            help: ArgumentHelp("The new PIN, in a file; - is standard input.", valueName: "file"), completion: .file())
        var newPinFile: String?

        @OptionGroup var common: CommonOptions

        func validate() throws {
            try Usage.checkEnrollment(id)
            guard pinFile != "-" || newPinFile != "-" else {
                throw ValidationError("Standard input holds one PIN: name a file for the other.")
            }
        }

        func run() async throws {
            try await common.withAgent { client, output throws(ClientError) in
                let old = try PINQuestion.existing(file: pinFile, "PIN that enrollment \(id) has:")
                let new = try PINQuestion.chosen(file: newPinFile, option: "--new-pin-file", "New PIN:")
                let enrollment = try await client.changePIN(id: id, PINChangeCommand(pin: old, newPin: new))
                try output.data(enrollment) { _ in "" }
                output.message("Changed the PIN of \(enrollment.id).")
                for warning in enrollment.warnings ?? [] { output.message("Warning: \(warning.message)") }
                return .done
            }
        }
    }
}
