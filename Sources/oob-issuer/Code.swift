import ArgumentParser
import Sandbox

struct Code: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make an enrollment code, and print it and the link that carries it.",
        usage: "oob-issuer code [<options>]")

    @OptionGroup var sandbox: SandboxOptions

    @Option(
        help: ArgumentHelp("none (the default), indirect, direct or enterprise.", valueName: "conveyance"),
        completion: .list(["none", "indirect", "direct", "enterprise"]))
    var attestation: String?

    @Option(
        help: ArgumentHelp("required, preferred (the default) or discouraged.", valueName: "requirement"),
        completion: .list(["required", "preferred", "discouraged"]))
    var userVerification: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How long the code can be used, 0 to 86400; 600 unless given.", valueName: "seconds"))
    var expiresIn: String?

    func validate() throws {
        let expiresIn = try lifetime()
        try FlagNames.check { () throws(SandboxClient.OrderError) in
            try SandboxClient.checkEnrollmentCode(
                attestation: attestation, userVerification: userVerification, expiresIn: expiresIn)
        }
    }

    private func lifetime() throws -> Int64? { try FlagNames.seconds(expiresIn, in: CodeOrder.lifetime) }

    func run() async throws {
        let client = try sandbox.client()
        let expiresIn = try lifetime()
        let issued = try await reporting { () throws(SandboxClient.CallError) in
            try await client.enrollmentCode(
                attestation: attestation, userVerification: userVerification, expiresIn: expiresIn)
        }
        try Output.data(sandbox.json ? issued.json : "\(issued.code)\n\(issued.link)")
    }
}
