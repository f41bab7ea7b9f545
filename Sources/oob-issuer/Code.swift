import ArgumentParser
import Sandbox

struct Code: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make an enrollment code, and print it and the link that carries it.")

    @OptionGroup var sandbox: SandboxOptions

    @Option(help: ArgumentHelp("none (the default), indirect, direct or enterprise.", valueName: "conveyance"))
    var attestation: String?

    @Option(help: ArgumentHelp("required, preferred (the default) or discouraged.", valueName: "requirement"))
    var userVerification: String?

    @Option(help: ArgumentHelp("How long the code can be used; 600 unless given.", valueName: "seconds"))
    var expiresIn: Int64?

    func run() async throws {
        let client = try sandbox.client()
        let issued = try await reporting { () throws(SandboxClient.Failure) in
            try await client.enrollmentCode(
                attestation: attestation, userVerification: userVerification, expiresIn: expiresIn)
        }
        Output.data(sandbox.json ? issued.json : "\(issued.code)\n\(issued.link)")
    }
}
