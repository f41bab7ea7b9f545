import ArgumentParser
import Conformance
import Foundation

struct CheckRequest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Judge an authn request or a cancellation by every rule, in order.",
        usage: "oob-conform check-request <file> [<options>]",
        discussion: """
            It says what an authenticator makes of the message: each rule that is met or broken, with its section of \
            docs/reference/protocol.md, and what the message says, decoded. A fact that no option gives is taken from \
            the message, and its rule is not checked. What is behind a broken rule is checked as far as that can be.

            Examples:
              oob-conform check-request request.jws --jwks jwks.json --now
              oob-conform check-request - --issuer https://issuer.example
            """)

    @Argument(help: "The message, a compact JWS; - is standard input.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The issuer's JWK Set, a file.", valueName: "file"), completion: .file())
    var jwks: String?

    @Option(help: ArgumentHelp("The issuer's URL.", valueName: "url"))
    var issuer: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("The authenticatorId.", valueName: "id"))
    var authenticatorId: String?

    @Option(help: ArgumentHelp("The enrolled rp.id.", valueName: "domain"))
    var rpId: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("The enrolled credential, base64url.", valueName: "id"))
    var credentialId: String?

    @Option(help: ArgumentHelp("The authenticator's time, in seconds since 1970.", valueName: "seconds"))
    var at: String?

    @Flag(help: "Take the time of this machine.")
    var now = false

    @Option(
        help: ArgumentHelp("How the enrollment verifies its user: pin, presence or test.", valueName: "type"),
        completion: .list(["pin", "presence", "test"]))
    var authnType: String?

    @Option(
        help: ArgumentHelp("Of an exponent that is not ISO 4217's: refuse (the default) or warn.", valueName: "policy"),
        completion: .list(["refuse", "warn"]))
    var exponentPolicy: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws { _ = try facts() }

    func run() async throws {
        var facts = try facts()
        if let jwks {
            facts.keys = try InputFile(path: jwks).read(atMost: Given.maxKeysBytes, as: Given.keys)
        }
        let input = InputFile(path: file)
        let jws = try input.read(atMost: RequestCheck.maxFileBytes, as: Given.jws)
        try RequestCheck.report(on: jws, facts: facts).show(of: input, json: json)
    }

    private func facts() throws -> RequestFacts {
        var facts = RequestFacts()
        try usage {
            if let exponentPolicy {
                facts.exponentPolicy = try Given.exponentPolicy(exponentPolicy, option: "--exponent-policy")
            }
            facts.canVerifyUser = try authnType.map { try Given.canVerifyUser($0, option: "--authn-type") }
            facts.issuer = try issuer.map { try Given.issuer($0, option: "--issuer") }
            facts.authenticatorId = try authenticatorId.map { try Given.tokenID($0, option: "--authenticator-id") }
            facts.credentialId = try credentialId.map { try Given.bytes($0, option: "--credential-id") }
            facts.now = try at.map { try Given.seconds($0, option: "--at") }
        }
        facts.rpId = rpId
        guard now else { return facts }
        guard at == nil else { throw ValidationError("--at and --now are two times; give one of them") }
        facts.now = Int64(Date().timeIntervalSince1970)
        return facts
    }
}
