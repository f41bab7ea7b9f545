import ArgumentParser
import LinuxProcess
import Sandbox
import SequenceDiagrams
import ThreeDS

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List purchases, the newest first.",
        usage: "oob-issuer list [<options>]",
        discussion: """
            If there are more than are listed, standard error says how to see them.

            Examples:
              oob-issuer list                    what was started last
              oob-issuer list --status pending   what nobody has decided yet
            """)
    private static let usualLimit: Int64 = 100
    private static let limits: ClosedRange<Int64> = 1...1_000

    @Option(help: ArgumentHelp("At most this many, 1 to 1000.", valueName: "n"))
    var limit = Self.usualLimit

    @Option(
        help: ArgumentHelp("pending, authenticated, notAuthenticated, expired or cancelled.", valueName: "status"),
        completion: .list(SandboxClient.statuses))
    var status: String?

    @Option(help: ArgumentHelp("Those that were started before this purchase.", valueName: "acsTransId"))
    var after: String?

    @OptionGroup var sandbox: SandboxOptions

    func validate() throws {
        guard Self.limits.contains(limit) else { throw ValidationError("--limit must be 1 to 1000") }
        do throws(SandboxClient.OrderError) { if let status { try SandboxClient.checkStatus(status) } } catch {
            throw ValidationError("--\(error)")
        }
        if let after { _ = try FlagNames.acsTransId(after, of: "--after") }
    }

    func run() async throws {
        let client = try sandbox.client()
        let start = try after.map { try FlagNames.acsTransId($0, of: "--after") }
        let purchases = try await reporting { () throws(SandboxClient.CallError) in
            try await client.purchases(limit: limit, status: status, after: start)
        }
        if sandbox.json {
            try output.data(purchases.json)
        } else if purchases.text.isEmpty {
            output.message(
                "there are no \(after == nil ? "" : "more ")purchases\(status.map { " that are \($0)" } ?? "")")
        } else {
            try output.data(purchases.text)
        }
        if let next = purchases.next { output.message("there are more: \(command(after: next))") }
    }

    private func command(after next: String) -> String {
        let options = [
            ("--limit", limit == Self.usualLimit ? nil : String(limit)), ("--status", status), ("--after", next),
        ].compactMap { name, value in value.map { "\(name) \($0)" } }
        return "oob-issuer list " + options.joined(separator: " ")
    }
}

struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the story of a purchase: what came, what was checked, and EMV's messages.",
        usage: "oob-issuer show <acsTransId> [<options>]",
        discussion: """
            With --diagram or --mermaid it draws who sent what to whom, and when, instead.

            Examples:
              oob-issuer show ACSTRANSID --diagram purchase.svg   for a browser or a page
              oob-issuer show ACSTRANSID --mermaid                for a comment at a forge
            """)

    @OptionGroup var purchase: PurchaseArgument

    @Option(
        help: ArgumentHelp(
            "Draw a sequence diagram into this file, which is replaced; its name ends in .svg.", valueName: "file"),
        completion: .file(extensions: ["svg"]))
    var diagram: String?

    @Flag(help: "Print a sequence diagram in Mermaid's language, which forges draw in Markdown.")
    var mermaid = false

    @OptionGroup var sandbox: SandboxOptions

    func validate() throws {
        let given = [(diagram != nil, "--diagram"), (mermaid, "--mermaid"), (sandbox.json, "--json")].filter(\.0)
        guard given.count <= 1 else {
            throw ValidationError("\(given.map(\.1).joined(separator: " and ")) exclude each other")
        }
        guard let name = diagram else { return }
        do throws(SandboxClient.OrderError) { _ = try DiagramFile(name) } catch {
            throw ValidationError("--diagram \(error)")
        }
    }

    func run() async throws {
        let (client, id) = (try sandbox.client(), try purchase.id())
        let report = try await reporting { () throws(SandboxClient.CallError) in try await client.story(of: id) }
        guard mermaid || diagram != nil else { return try output.data(sandbox.json ? report.json : report.text) }
        let drawn = try await reporting { () throws(SandboxClient.CallError) in try report.diagram() }
        guard let diagram else { return try output.data(drawn.mermaid) }
        do throws(SandboxClient.OrderError) { try DiagramFile(diagram).write(drawn) } catch {
            output.message("--diagram \(error)")
            throw ExitCode.failure
        }
    }
}

struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End a purchase as a payer who leaves the merchant does, and take its requests back.",
        usage: "oob-issuer cancel <acsTransId> [<options>]")

    @OptionGroup var purchase: PurchaseArgument

    @Flag(help: "The SDK has waited too long (challengeCancel 08), instead of the payer (01).")
    var sdkTimedOut = false

    @OptionGroup var sandbox: SandboxOptions

    func run() async throws {
        let (client, id) = (try sandbox.client(), try purchase.id())
        let report = try await reporting { () throws(SandboxClient.CallError) in
            try await client.cancel(id, challengeCancel: sdkTimedOut ? "08" : nil)
        }
        try output.data(sandbox.json ? report.json : report.statusLine)
    }
}

struct CReq: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "creq",
        abstract: "Let the 3DS SDK send a CReq, as it does when the payer comes back to the merchant's app.",
        usage: "oob-issuer creq <acsTransId> [<options>]",
        discussion: """
            Without a result the ACS answers with its instructions once more, after a time-out with an Erro. The last \
            CReq of a purchase is sent by itself, unless it was started with --emv sdk=noReturn.
            """)

    @OptionGroup var purchase: PurchaseArgument

    @Option(
        help: ArgumentHelp(
            "01: the payer tapped Continue; 02, the default: the SDK did it by itself.", valueName: "value"),
        completion: .list(["01", "02"]))
    var oobContinue: String?

    @Flag(help: "The issuer's app could not be opened (oobAppStatus 01, of 2.3.1).")
    var oobAppFailed = false

    @Flag(help: "A CReq that is not valid: the ACS answers with an Erro and ends the authentication (U).")
    var invalid = false

    @OptionGroup var sandbox: SandboxOptions

    func validate() throws {
        if let oobContinue, !["01", "02"].contains(oobContinue) {
            throw ValidationError("--oob-continue must be 01 or 02")
        }
    }

    func run() async throws {
        let (client, id) = (try sandbox.client(), try purchase.id())
        let report = try await reporting { () throws(SandboxClient.CallError) in
            try await client.challengeRequest(
                id, oobContinue: oobContinue, oobAppFailed: oobAppFailed, isInvalid: invalid)
        }
        try output.data(sandbox.json ? report.json : report.text)
    }
}

struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List a purchase's request again, and print the acsTransId.",
        discussion: """
            The request comes again byte for byte, and an authenticator in order drops it as a duplicate. With \
            --as-new the same transaction is a new purchase with an acsTransId of its own.
            """)

    @OptionGroup var purchase: PurchaseArgument

    @Flag(help: "Start the same transaction as a new purchase.")
    var asNew = false

    @OptionGroup var sandbox: SandboxOptions

    func run() async throws {
        let (client, id) = (try sandbox.client(), try purchase.id())
        let report = try await reporting { () throws(SandboxClient.CallError) in
            try await client.replay(id, asNew: asNew)
        }
        try output.data(sandbox.json ? report.json : report.acsTransId)
    }
}

struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End an enrollment as a bank does: its token is no longer valid.")

    @Argument(help: ArgumentHelp("The authenticator's ID.", valueName: "authenticatorId"))
    var authenticatorId: String

    @OptionGroup var sandbox: SandboxOptions

    func validate() throws {
        do throws(SandboxClient.OrderError) { try SandboxClient.checkAuthenticatorId(authenticatorId) } catch {
            throw ValidationError("<authenticatorId> \(error)")
        }
    }

    func run() async throws {
        let client = try sandbox.client()
        let report = try await reporting { () throws(SandboxClient.CallError) in
            try await client.revoke(authenticatorId)
        }
        try output.data(sandbox.json ? report.json : report.text)
    }
}

struct PurchaseArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The purchase's acsTransId.", valueName: "acsTransId"))
    var acsTransId: String

    func validate() throws { _ = try id() }

    func id() throws(ValidationError) -> ACSTransactionID { try FlagNames.acsTransId(acsTransId, of: "<acsTransId>") }
}
