import ArgumentParser
import Control

struct Evidence: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evidence",
        abstract: "Write what a dispute about a request needs into a directory.",
        usage: "oobctl evidence <id> [<options>]",
        discussion: """
            The request as it came and its issuer's key, the text as it was shown, the assertion and its public key, \
            the journal's entries, and a README.md with the openssl commands that check it all without this software. \
            It is personal data, readable by its owner alone.
            """)

    @Argument(
        help: "The request's ID, its jti, its acsTransId, or a unique prefix of one.", completion: .allRequests)
    var id: String

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The directory, which must be empty or not be there (evidence-ID).", valueName: "dir"),
        completion: .directory)
    var directory: String?

    @OptionGroup var enrollment: EnrollmentOption
    @OptionGroup var common: CommonOptions

    mutating func validate() throws {
        id = DashedIDs.unescaped(id)
        _ = try Usage.id(id)
        if directory?.isEmpty == true { throw ValidationError("A directory needs a name.") }
    }

    func run() async throws {
        try await common.withAgent { client, output throws(ClientError) in
            let evidence = try await client.evidence(id: id, enrollment: enrollment.enrollment)
            var directory = try NewDirectory(directory ?? "evidence-\(evidence.request.id)")
            let files = try evidence.files()
            for file in files { try directory.write(file.bytes, as: file.name) }
            try directory.keep()
            try output.data(EvidenceWritten(directory: directory.path, files: files.map(\.name))) { $0.directory }
            return .done
        }
    }
}

/// The output of `evidence --json`.
private struct EvidenceWritten: Encodable {
    let directory: String
    let files: [String]
}
