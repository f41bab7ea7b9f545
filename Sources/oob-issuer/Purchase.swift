import ArgumentParser
import Sandbox

struct Purchase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Start a purchase that the cardholder has to approve, and print its acsTransId.",
        usage: """
            oob-issuer purchase --amount <digits> --currency <digits>
                --exponent <digit> --merchant <name> [<options>]
            """,
        discussion: """
            With --wait it prints the purchase's timeline when the purchase is completed, and exits with 0 if it \
            was authenticated (Y), else with 1.
            """)

    @OptionGroup var sandbox: SandboxOptions

    @Option(help: ArgumentHelp("purchaseAmount, in minor units.", valueName: "digits"))
    var amount: String

    @Option(help: ArgumentHelp("purchaseCurrency, ISO 4217 numeric.", valueName: "digits"))
    var currency: String

    @Option(help: ArgumentHelp("purchaseExponent.", valueName: "digit"))
    var exponent: String

    @Option(parsing: .unconditional, help: ArgumentHelp("merchantName.", valueName: "name"))
    var merchant: String

    @Option(help: ArgumentHelp("A random one unless given.", valueName: "uuid"))
    var acsTransId: String?

    @Option(help: ArgumentHelp("purchaseDate, YYYYMMDDHHMMSS in UTC; now unless given.", valueName: "digits"))
    var date: String?

    @Option(name: .customLong("app-url"), help: ArgumentHelp("threeDSRequestorAppURL.", valueName: "url"))
    var appURL: String?

    @Option(help: ArgumentHelp("Whose purchase it is; the last enrolled unless given.", valueName: "id"))
    var authenticatorId: String?

    @Option(
        help: ArgumentHelp("required, preferred (the default) or discouraged.", valueName: "requirement"),
        completion: .list(["required", "preferred", "discouraged"]))
    var userVerification: String?

    @Option(
        help: ArgumentHelp("webauthn.get (the default) or payment.get.", valueName: "type"),
        completion: .list(["webauthn.get", "payment.get"]))
    var assertion: String?

    @Option(help: ArgumentHelp("The merchant's origin, for payment.get.", valueName: "origin"))
    var payeeOrigin: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The payment instrument's displayName, for payment.get.", valueName: "name"))
    var instrumentName: String?

    @Option(help: ArgumentHelp("The payment instrument's icon, for payment.get.", valueName: "url"))
    var instrumentIcon: String?

    @Option(help: ArgumentHelp("W3C Trace Context, for the request to carry.", valueName: "value"))
    var traceparent: String?

    @Option(
        help: ArgumentHelp(
            "both (the default: listed, and pushed if there is a subscription), only, none, or hint.",
            valueName: "mode"), completion: .list(["both", "only", "none", "hint"]))
    var push: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How long the cardholder has, 1 to 86400; 600 unless given.", valueName: "seconds"))
    var expiresIn: String?

    @Flag(help: "Wait until the purchase is completed.")
    var wait = false

    func validate() throws {
        let expiresIn = try lifetime()
        try FlagNames.check { () throws(SandboxClient.OrderError) in
            try SandboxClient.checkPurchase(members, instrument: instrument, expiresIn: expiresIn)
        }
    }

    private func lifetime() throws -> Int64? { try FlagNames.seconds(expiresIn, in: PurchaseOrder.lifetime) }

    func run() async throws {
        let client = try sandbox.client()
        let expiresIn = try lifetime()
        let started = try await reporting { () throws(SandboxClient.CallError) in
            try await client.purchase(members, instrument: instrument, expiresIn: expiresIn)
        }
        guard wait else {
            try Output.data(sandbox.json ? started.json : started.acsTransId)
            return
        }
        let report = try await reporting { () throws(SandboxClient.CallError) in
            try await client.completion(of: started)
        }
        try Output.data(sandbox.json ? report.json : report.text)
        if !report.isAuthenticated { throw ExitCode.failure }
    }

    private var members: [(name: String, value: String)] {
        let given: [(name: String, value: String?)] = [
            ("acsTransId", acsTransId), ("merchantName", merchant), ("purchaseAmount", amount),
            ("purchaseCurrency", currency), ("purchaseExponent", exponent), ("purchaseDate", date),
            ("threeDSRequestorAppURL", appURL), ("authenticatorId", authenticatorId),
            ("userVerification", userVerification), ("assertion", assertion), ("payeeOrigin", payeeOrigin),
            ("traceparent", traceparent), ("push", push),
        ]
        return Self.present(given)
    }

    private var instrument: [(name: String, value: String)] {
        Self.present([("displayName", instrumentName), ("icon", instrumentIcon)])
    }

    private static func present(_ given: [(name: String, value: String?)]) -> [(name: String, value: String)] {
        given.compactMap { member in member.value.map { (name: member.name, value: $0) } }
    }
}
