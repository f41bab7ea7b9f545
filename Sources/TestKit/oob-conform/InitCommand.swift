import ArgumentParser
import Conformance
import Foundation
import LinuxProcess

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write the file that names the tested side's commands, with comments.",
        usage: "oob-conform init issuer|approver [<file>]")

    @Argument(help: "issuer or approver.")
    var side: TestedSideTemplate

    @Argument(help: "The file; it must not be there yet. - is standard output.", completion: .file())
    var file = "conform.yaml"

    func run() throws {
        guard file != "-" else { return try output.data(String(side.text.dropLast())) }
        do {
            try Data(side.text.utf8).write(to: URL(filePath: file), options: .withoutOverwriting)
        } catch CocoaError.fileWriteFileExists {
            output.message("\(file): is there already, and is left as it is")
            throw ExitCode(2)
        } catch {
            output.message("\(file): cannot be written")
            throw ExitCode(2)
        }
        output.message(
            "\(file) is written: fill in the commands, then run oob-conform \(side.rawValue) --config \(file)")
    }
}

extension TestedSideTemplate: ExpressibleByArgument {}
