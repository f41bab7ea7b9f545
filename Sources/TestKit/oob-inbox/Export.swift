import ArgumentParser
import Control
import DurableFiles
import Inbox
import LineLog
import LinuxProcess

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write one page about a request that needs no agent.",
        usage: "oob-inbox export --request <id> <file.html> [<options>]",
        discussion: """
            The card, the messages taken apart, the sequence, the journal's entries and the evidence, in one file that \
            loads nothing: for the artifacts of a failed run. It has the payer's data in it. A file that is there is \
            replaced once the new one is whole.
            """)

    @Option(help: ArgumentHelp("Its id, jti or acsTransId, or a unique prefix of one.", valueName: "id"))
    var request: String

    @Argument(help: ArgumentHelp("Where to write it; - is standard output.", valueName: "file.html"))
    var file: String

    @OptionGroup var agent: AgentOptions

    @OptionGroup var links: LinkOptions

    func run() async throws {
        let schemes = try links.schemes()
        let page: [UInt8]
        do throws(ClientError) {
            page = try await ExportedPage.of(request, by: agent.client(), linking: schemes)
        } catch {
            throw failure(error.description, error.exitStatus == .usage ? 64 : error.exitStatus.rawValue)
        }
        guard file != "-" else {
            do throws(SystemError) {
                return try StandardStream.output.writeAll(String(decoding: page, as: UTF8.self))
            } catch { throw failure(error.description, 1) }
        }
        do throws(FileError) {
            try DurableFile.write(page, to: file, mode: 0o600, replacing: true)
        } catch { throw failure(error.description, 1) }
    }
}
