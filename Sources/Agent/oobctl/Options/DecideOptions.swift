import ArgumentParser
import Control

/// The common options of `approve` and `deny`: the requests, the time to wait, and the expectations.
struct DecideOptions: ParsableArguments {
    @Argument(help: "Requests by ID, jti, acsTransId, or a unique prefix of one.", completion: .pendingRequests)
    var ids: [String] = []

    @Flag(help: "The oldest pending request, instead of an ID.")
    var next = false

    @Option(
        help: ArgumentHelp(
            "Wait for the request if it has not come yet, 0 to 3600; a jti must then be whole.", valueName: "seconds"))
    var wait: Int?

    @Option(help: ArgumentHelp("Decide only if the amount is this one, such as \"USD 1.00\".", valueName: "amount"))
    var expectAmount: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Decide only if the merchant's name is this text, raw or as shown.", valueName: "text"))
    var expectMerchant: String?

    @Option(help: ArgumentHelp("Decide only if the acsTransId is this one.", valueName: "id"))
    var expectAcsTransId: String?

    @Option(help: ArgumentHelp("Wait for the issuer's answer, 0 to 600.", valueName: "seconds"))
    var deliveryTimeout = DecideCommand.defaultDeliveryTimeout

    @OptionGroup var enrollment: EnrollmentOption

    func validate() throws {
        _ = try selectors()
        try Usage.expect(wait, in: DecideCommand.waitRange, option: "--wait")
        try Usage.expect(deliveryTimeout, in: DecideCommand.deliveryTimeoutRange, option: "--delivery-timeout")
        try Usage.expectNone(expectAmount.flatMap(Expectation.problem(withAmount:)), option: "--expect-amount")
        try Usage.expectNone(
            expectAcsTransId.flatMap(Expectation.problem(withAcsTransId:)), option: "--expect-acs-trans-id")
        try Usage.expect(
            merchant?.utf8.count, in: DecideCommand.expectMerchantBytes, option: "--expect-merchant (bytes)")
    }

    func selectors() throws -> [RequestSelector] {
        guard ids.isEmpty == next else { throw ValidationError("Give one or more IDs, or --next instead.") }
        return next ? [.next] : try ids.map { try Usage.id(DashedIDs.unescaped($0)) }
    }

    /// The merchant's raw name, also if it was copied from the screen in escaped form.
    private var merchant: String? { expectMerchant.map(TerminalText.meant) }

    func command(reason: DenialReason? = nil) -> DecideCommand {
        var command = DecideCommand()
        command.enrollment = enrollment.enrollment
        command.wait = wait
        command.expectAmount = expectAmount
        command.expectMerchant = merchant
        command.expectAcsTransId = expectAcsTransId
        command.reason = reason
        command.deliveryTimeout = deliveryTimeout
        return command
    }
}
