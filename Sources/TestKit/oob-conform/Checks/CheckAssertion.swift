import ArgumentParser
import Conformance

struct CheckAssertion: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Judge an assertion by every rule, in order.",
        usage: "oob-conform check-assertion <file> [<options>]",
        discussion: """
            It says whether an issuer takes the assertion: each rule that is met or broken, with its section of \
            docs/reference/protocol.md, and the client data, the flags and the signCount, decoded. A fact that no \
            option gives is taken from the assertion, and its rule is not checked. What is behind a broken rule is \
            checked as far as that can be.

            Examples:
              oob-conform check-assertion decision.json --request request.jws --public-key key.pem
              oob-conform check-assertion - --origin https://issuer.example --rp-id issuer.example
            """)

    @Argument(
        help: "A decision that approves, or an AuthenticationResponseJSON; - is standard input.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp("The request that it answers, a compact JWS in a file.", valueName: "file"),
        completion: .file())
    var request: String?

    @Option(
        help: ArgumentHelp("The key of the enrollment: PEM, a JSON Web Key, or base64url.", valueName: "file"),
        completion: .file())
    var publicKey: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("The request's challenge, base64url.", valueName: "bytes"))
    var challenge: String?

    @Option(help: ArgumentHelp("The issuer's origin.", valueName: "url"))
    var origin: String?

    @Option(help: ArgumentHelp("The enrolled rp.id.", valueName: "domain"))
    var rpId: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("The enrolled credential, base64url.", valueName: "id"))
    var credentialId: String?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("The user.id of the enrollment, base64url.", valueName: "bytes"))
    var userHandle: String?

    @Option(
        help: ArgumentHelp("What the request asks for: required, preferred or discouraged.", valueName: "requirement"),
        completion: .list(["required", "preferred", "discouraged"]))
    var userVerification: String?

    @Option(help: ArgumentHelp("The signCount that was accepted last.", valueName: "number"))
    var signCountAbove: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        _ = try facts()
        let inputs = [file, request, publicKey].filter { $0 == "-" }
        guard inputs.count <= 1 else { throw ValidationError("Only one file can be standard input.") }
    }

    func run() async throws {
        var facts = try facts()
        if let publicKey {
            facts.publicKey = try InputFile(path: publicKey).read(atMost: Given.maxKeysBytes, as: Given.publicKey)
        }
        if let request { try read(request, &facts) }
        let input = InputFile(path: file)
        let response = try input.read(atMost: AssertionCheck.maxFileBytes, as: Given.assertion)
        try AssertionCheck.report(on: response, facts: facts).show(of: input, json: json)
    }

    private func read(_ path: String, _ facts: inout AssertionFacts) throws {
        let input = InputFile(path: path)
        let jws = try input.read(atMost: RequestCheck.maxFileBytes, as: Given.jws)
        guard let (request, issuer) = try RequestCheck.request(in: jws) else {
            throw input.failed("is no request in order; oob-conform check-request says why", .dataError)
        }
        try facts.add(request, issuer: issuer)
    }

    private func facts() throws -> AssertionFacts {
        var facts = AssertionFacts()
        try usage {
            facts.challenge = try challenge.map { try Given.bytes($0, option: "--challenge", count: 16...1_024) }
            facts.origin = try origin.map { try Given.origin($0, option: "--origin") }
            facts.credentialId = try credentialId.map { try Given.bytes($0, option: "--credential-id") }
            facts.userHandle = try userHandle.map { try Given.bytes($0, option: "--user-handle", count: 1...64) }
            facts.userVerificationRequired = try userVerification.map {
                try Given.requiresUserVerification($0, option: "--user-verification")
            }
            facts.signCountAbove = try signCountAbove.map { try Given.signCount($0, option: "--sign-count-above") }
        }
        facts.rpId = rpId
        return facts
    }
}
