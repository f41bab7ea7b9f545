import Authenticator
import Control
import IssuerProtocol
import Records
import ThreeDS

extension Decision {
    /// - Parameter reason: of a deny. An approve has none.
    func inTheCore(_ reason: DenialReason?) throws(ControlError) -> RequestLife.Decision {
        switch (self, reason) {
        case (.approve, nil): return .approve
        case (.approve, _): throw ControlError(.invalidArgument, "reason: goes with deny only")
        case (.deny, nil), (.deny, .userDenied): return .deny(.userDenied)
        case (.deny, .suspectedFraud): return .deny(.suspectedFraud)
        }
    }
}

extension Expectations {
    init(_ command: DecideCommand) throws(ControlError) {
        var amount: ExpectedAmount?
        if let text = command.expectAmount {
            do throws(ExpectedAmountError) {
                amount = try ExpectedAmount(text)
            } catch {
                throw ControlError(.invalidArgument, "expectAmount: \(error)")
            }
        }
        var acsTransId: ACSTransactionID?
        if let text = command.expectAcsTransId {
            guard let id = ACSTransactionID(text) else {
                throw ControlError(.invalidArgument, "expectAcsTransId: must be a UUID of 36 characters")
            }
            acsTransId = id
        }
        guard command.expectShownText != true || command.shownTextDigest != nil else {
            throw ControlError(.invalidArgument, "expectShownText: goes with shownTextDigest only")
        }
        self.init(
            amount: amount, merchantName: command.expectMerchant, acsTransId: acsTransId,
            textDigest: command.expectShownText == true ? command.shownTextDigest : nil)
    }
}
