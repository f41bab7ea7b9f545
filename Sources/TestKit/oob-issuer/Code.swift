import ArgumentParser
import LinuxProcess
import Sandbox

struct Code: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make an enrollment code, and print it and the link that carries it.",
        usage: "oob-issuer code [--count <n>] [<options>]")

    private static let counts = 1...100_000

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

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Make so many codes, 1 to 100000, and print each on a line, without links.", valueName: "n"))
    var count: Int?

    func validate() throws {
        guard count.map(Self.counts.contains) ?? true else {
            throw ValidationError("--count must be \(Self.counts.lowerBound) to \(Self.counts.upperBound)")
        }
        let expiresIn = try lifetime()
        try FlagNames.asUsage { () throws(SandboxClient.OrderError) in
            try SandboxClient.checkEnrollmentCode(
                attestation: attestation, userVerification: userVerification, expiresIn: expiresIn)
        }
    }

    private func lifetime() throws -> Int64? { try FlagNames.seconds(expiresIn, in: CodeOrder.lifetime) }

    func run() async throws {
        let client = try sandbox.client()
        let expiresIn = try lifetime()
        for _ in 0..<(count ?? 1) {
            let issued = try await reporting { () throws(SandboxClient.CallError) in
                try await client.enrollmentCode(
                    attestation: attestation, userVerification: userVerification, expiresIn: expiresIn)
            }
            if sandbox.json {
                try output.data(issued.json)
            } else if count != nil {
                try output.data(issued.code)
            } else {
                try output.data("\(issued.code)\n\(issued.link)")
            }
        }
    }
}
