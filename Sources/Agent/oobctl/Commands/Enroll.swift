import ArgumentParser
import Control

struct Enroll: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Make an enrollment at an issuer; prints its ID.",
        usage: """
            oobctl enroll --issuer <url> --code-file <file> [<options>]
            oobctl enroll --issuer <url> --code <code> [<options>]
            oobctl enroll 'oob-enroll:?issuer=…&code=…' [<options>]
            oobctl enroll --issuer <url> --count <n> --code-file <file> [<options>]
            """,
        discussion: """
            At a terminal it shows the issuer and asks before a key is made or anything is sent; scripts are not \
            asked. A code is good for one enrollment: if the issuer does not take it (exit 9) ask for a new one. \
            While oobctl runs, every user of this host can read its arguments: a script gives the code in a file.

            Examples:
              oobctl enroll "$LINK" --name kitchen
              oobctl enroll --issuer https://issuer.example --code-file code --pin-file pin
              oobctl enroll --issuer https://issuer.example --count 1000 --code-file codes
            """)

    // The names of IssuerProtocol's `AuthnType`. The agent checks them, because oobctl does not import the protocol.
    enum AuthnType: String, CaseIterable, ExpressibleByArgument { case pin, presence, test }

    @Argument(help: "The link that the issuer hands out, instead of --issuer and a code.")
    var link: String?

    @Option(help: ArgumentHelp("The issuer's URL.", valueName: "url"))
    var issuer: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The issuer's enrollment code, which is good once.", valueName: "code"))
    var code: String?

    @Option(
        help: ArgumentHelp(
            "The enrollment code, in a file; - is standard input. No other user can read it there. With --count a code in "
                + "each line, the first for NAME-00001.",
            valueName: "file"),
        completion: .file())
    var codeFile: String?

    @Option(help: "What an approval takes. Default: pin at a terminal or with --pin-file, else presence.")
    var authnType: AuthnType?

    @Option(
        help: ArgumentHelp(
            "The PIN, in a file; - is standard input. At a terminal it is asked for.", valueName: "file"),
        completion: .file())
    var pinFile: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "What you call the enrollment; no other may have this name. Default: the issuer's host, with a number if that "
                + "is taken.", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp("Roots in PEM that replace the system's for this issuer.", valueName: "file"),
        completion: .file())
    var caFile: String?

    @Option(
        name: .customLong("key-uri"),
        help: ArgumentHelp(
            "A key pair that is there already: file:, handle: (TPM) or pkcs11: (token). Default: the agent makes one.",
            valueName: "uri"))
    var keyURI: String?

    @Flag(name: .customLong("no-push"), help: "The issuer is not to push; requests come by polls alone.")
    var noPush = false

    @Option(
        help: ArgumentHelp(
            "With --authn-type test: the persona that plays the cardholder; `oobctl persona list` has them.",
            valueName: "name"))
    var persona: String?

    @OptionGroup(title: "Options of --persona") var personaOptions: PersonaOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Make so many enrollments, 1 to 100000, with names NAME-00001 and so on; those that are there already count, so "
                + "an interrupted run goes on.", valueName: "n"))
    var count: Int?

    @Flag(name: .shortAndLong, help: "Do not ask at a terminal whether to enroll.")
    var yes = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        _ = try count == nil ? command() : fleetCommand()
    }

    func run() async throws {
        if let count { return try await runFleet(count) }
        let command = try command()
        try await common.withAgent { client, output throws(ClientError) in
            var command = command
            if let codeFile { command.code = try SecretLine.code(codeFile, option: "--code-file") }
            if let caFile { command.caFile = try CAFile.text(caFile) }
            command.authnType = usedAuthnType.rawValue
            if !yes { try EnrollQuestion(command, authnType: usedAuthnType).ask() }
            if usedAuthnType == .pin { command.pin = try pin() }
            let enrollment = try await client.enroll(command)
            try output.data(enrollment) { TerminalText.escaped($0.id) }
            guard enrollment.state == .active else {
                output.message("\(enrollment.issuer) has not answered yet; the agent goes on trying for 10 minutes.")
                return .queued
            }
            output.message("Enrolled at \(enrollment.issuer) as \(enrollment.name).")
            for warning in enrollment.warnings ?? [] { output.message("Warning: \(warning.message)") }
            return .done
        }
    }

    var usedAuthnType: AuthnType {
        authnType ?? (pinFile != nil || Terminal.isThere ? .pin : .presence)
    }

    /// The agent's own key gets a PIN that the person chooses now; an existing key has a PIN already.
    private func pin() throws(ClientError) -> PINText {
        if let keyURI { return try PINQuestion.existing(file: pinFile, "PIN of the key \(keyURI):") }
        return try PINQuestion.chosen(file: pinFile, "PIN for every approval, 4 to 64 characters:")
    }

    /// The command without the contents of files and the answers from the terminal.
    private func command() throws -> EnrollCommand {
        try checkFiles(authnType: usedAuthnType)
        let (issuer, code) = try issuerAndCode()
        guard name.map({ EnrollCommand.nameBytes.contains($0.utf8.count) }) ?? true else {
            throw ValidationError("--name takes 1 to 256 bytes.")
        }
        guard keyURI.map({ (1...1_024).contains($0.utf8.count) }) ?? true else {
            throw ValidationError("--key-uri takes 1 to 1024 bytes.")
        }
        return EnrollCommand(
            issuer: issuer, code: code, name: name, keyUri: keyURI, push: noPush ? false : nil,
            persona: try personaCommand())
    }

    func checkFiles(authnType: AuthnType) throws {
        guard pinFile == nil || authnType == .pin else {
            throw ValidationError("--pin-file goes with --authn-type pin.")
        }
        guard authnType != .pin || pinFile != nil || Terminal.isThere else {
            throw ValidationError("--authn-type pin takes --pin-file if there is no terminal to ask at.")
        }
        guard pinFile != "-" || codeFile != "-" else {
            throw ValidationError("Standard input holds the code or the PIN: name a file for the other.")
        }
    }

    func personaCommand() throws -> PersonaCommand? {
        guard persona != nil || personaOptions.isEmpty else {
            throw ValidationError("--delay, --times, --odds and --seed go with --persona.")
        }
        return persona.map(personaOptions.command)
    }

    /// The code is empty if a file contains it: that file is read later.
    private func issuerAndCode() throws -> (String, String) {
        switch (link, issuer, code, codeFile) {
        case (let link?, nil, nil, nil):
            let read = try Usage.checked { () throws(ControlError) in try EnrollLink(TerminalText.trimmed(link)) }
            return (read.issuer, try checked(read.code))
        case (nil, let issuer?, let code?, nil): return (try shown(issuer), try checked(code))
        case (nil, let issuer?, nil, _?): return (try shown(issuer), "")
        default:
            throw ValidationError("Give the issuer's link, or --issuer and one of --code and --code-file.")
        }
    }

    func shown(_ issuer: String) throws -> String {
        try Usage.checked { () throws(ControlError) in try ShownIssuer(TerminalText.trimmed(issuer)) }.text
    }

    private func checked(_ typed: String) throws -> String {
        let code = TerminalText.trimmed(typed)
        let range = EnrollCommand.codeBytes
        guard range.contains(code.utf8.count) else {
            throw ValidationError("A code has \(range.lowerBound) to \(range.upperBound) bytes.")
        }
        return code
    }
}
