import ArgumentParser
import LinuxProcess
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

            Examples:
              oob-issuer purchase --non-payment --merchant Shop --emv deviceChannel=02
              oob-issuer purchase --non-payment --merchant Shop --decoupled 10080
            """)

    @OptionGroup var sandbox: SandboxOptions

    @Option(help: ArgumentHelp("purchaseAmount, in minor units.", valueName: "digits"))
    var amount: String?

    @Option(help: ArgumentHelp("purchaseCurrency, ISO 4217 numeric.", valueName: "digits"))
    var currency: String?

    @Option(help: ArgumentHelp("purchaseExponent.", valueName: "digit"))
    var exponent: String?

    @Flag(help: "An authentication that is no payment (messageCategory 02): no amount, currency and exponent.")
    var nonPayment = false

    @Option(parsing: .unconditional, help: ArgumentHelp("merchantName.", valueName: "name"))
    var merchant: String

    @Option(help: ArgumentHelp("A random one unless given.", valueName: "uuid"))
    var acsTransId: String?

    @Option(help: ArgumentHelp("purchaseDate, YYYYMMDDHHMMSS in UTC; now unless given.", valueName: "digits"))
    var date: String?

    @Option(name: .customLong("app-url"), help: ArgumentHelp("threeDSRequestorAppURL.", valueName: "url"))
    var appURL: String?

    @Flag(
        help: "Append ?transID= and the sdkTransID to --app-url, as a 3DS SDK does; 256 bytes with it at most.")
    var appendTransId = false

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

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "How it goes through EMV 3-D Secure: NAME=VALUE. May be repeated.",
            discussion: """
                messageVersion (2.1.0, 2.2.0, 2.3.1), bridging (true), deviceChannel (01 app, 02 browser, 03 3RI), \
                messageCategory, authenticationMethod (07,13), whiteListStatus or trustListStatus, \
                deviceBindingStatus, threeDSRequestorAppURLInd, oobAppURL, oobAppLabel, oobContinue (01, 02), \
                oobAppStatus (01), sdk (inOrder, noFirstCReq, noReturn).
                """, valueName: "member"))
    var emv: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Decoupled authentication: the Requestor waits so long, 1 to 10080.", valueName: "minutes"))
    var decoupled: String?

    @Flag(help: "Wait until the purchase is completed.")
    var wait = false

    func validate() throws {
        try checkCategory()
        let (expiresIn, emv) = (try lifetime(), try emvMembers())
        try FlagNames.asUsage { () throws(SandboxClient.OrderError) in
            try SandboxClient.checkPurchase(
                members, nonPayment: nonPayment, instrument: instrument, emv: emv, expiresIn: expiresIn)
        }
    }

    private func checkCategory() throws {
        for (flag, value) in [("--amount", amount), ("--currency", currency), ("--exponent", exponent)] {
            if nonPayment, value != nil { throw ValidationError("\(flag) is of a payment, which --non-payment is not") }
            if !nonPayment, value == nil {
                throw ValidationError("\(flag) is missing; give --amount, --currency and --exponent, or --non-payment")
            }
        }
    }

    private func emvMembers() throws -> [String] {
        guard let decoupled else { return emv }
        guard let minutes = Int64(decoupled), SandboxClient.decoupledMinutes.contains(minutes) else {
            throw ValidationError("--decoupled must be 1 to 10080 (minutes, at most 7 days)")
        }
        return emv + SandboxClient.decoupled(minutes: minutes)
    }

    private func lifetime() throws -> Int64? { try FlagNames.seconds(expiresIn, in: PurchaseOrder.lifetime) }

    func run() async throws {
        let client = try sandbox.client()
        let (expiresIn, emv) = (try lifetime(), try emvMembers())
        let started = try await reporting { () throws(SandboxClient.CallError) in
            try await client.purchase(
                members, nonPayment: nonPayment, instrument: instrument, emv: emv, expiresIn: expiresIn)
        }
        guard wait else {
            try output.data(sandbox.json ? started.json : started.acsTransId)
            return
        }
        let report = try await reporting { () throws(SandboxClient.CallError) in
            try await client.completion(of: started)
        }
        try output.data(sandbox.json ? report.json : report.text)
        if !report.isAuthenticated { throw ExitCode.failure }
    }

    private var members: [(name: String, value: String)] {
        let given: [(name: String, value: String?)] = [
            ("acsTransId", acsTransId), ("merchantName", merchant), ("purchaseAmount", amount),
            ("purchaseCurrency", currency), ("purchaseExponent", exponent), ("purchaseDate", date),
            ("threeDSRequestorAppURL", appURL),
            ("appendTransID", appendTransId ? "true" : nil), ("authenticatorId", authenticatorId),
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
