import ArgumentParser
import Control

/// `oobctl key`.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "The key of an enrollment.", subcommands: [Export.self])

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Print the key of an enrollment as it is stored, sealed, or its public half.",
            usage: "oobctl key export <id> [<options>]",
            discussion: """
                The private key is sealed under the agent's secret, and under its PIN if it has one: the export opens \
                nothing by itself, and cannot be put back. Only root and the agent's own user may have it, and the \
                journal says who had.

                Examples:
                  oobctl key export ID -o card.pem            the sealed key, in a file
                  oobctl key export ID --public | openssl pkey -pubin -text -noout
                """)

        @Argument(help: "The enrollment's name or ID.", completion: .enrollments)
        var id: String

        @Flag(help: "The public half as PEM, and nothing private.")
        var `public` = false

        @Option(
            name: [.customShort("o"), .customLong("output")],
            help: ArgumentHelp("The file, which must not be there; standard output if left out.", valueName: "file"),
            completion: .file())
        var file: String?

        @Flag(help: "Replace a file that is there.")
        var force = false

        @OptionGroup var common: CommonOptions

        func validate() throws {
            try Usage.checkEnrollment(id)
            if file?.isEmpty == true { throw ValidationError("A file needs a name.") }
            if force, file == nil { throw ValidationError("--force goes with a file (-o).") }
        }

        func run() async throws {
            try await common.withAgent { client, output throws(ClientError) in
                guard let file else {
                    let (key, pem) = try await export(by: client)
                    try output.data(key) { _ in pem.hasSuffix("\n") ? String(pem.dropLast()) : pem }
                    return .done
                }
                // The file comes first: the journal then never has an export that failed because of its file.
                let written = try NewFile(file, replacing: force)
                try written.write(Array(try await export(by: client).pem.utf8))
                try written.keep()
                try output.data(KeyWritten(file: file)) { _ in "" }
                output.message("Wrote \(file).")
                return .done
            }
        }

        private func export(by client: ControlClient) async throws(ClientError) -> (key: KeyExportView, pem: String) {
            let key = try await `public` ? client.publicKey(of: id) : client.sealedKey(of: id)
            guard let pem = `public` ? key.publicKey : key.sealedKey else {
                throw .unclear("The key could not be read: is the agent of another version?")
            }
            return (key, pem)
        }
    }
}

/// The output of `key export -o FILE --json`.
private struct KeyWritten: Encodable {
    let file: String
}
