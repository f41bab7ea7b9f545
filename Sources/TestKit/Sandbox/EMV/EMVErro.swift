import StrictJSON
import ThreeDS

/// The Erro with which an ACS or an SDK answers what it cannot take (errorCode and errorComponent of EMV 3-D Secure).
enum EMVErro {
    enum MessageType: String, Sendable { case creq = "CReq", cres = "CRes" }

    /// 203, from the ACS: an element is not what the version allows.
    static func invalidElement(
        _ name: String, of type: MessageType, _ version: EMVProfile.Version, _ acsTransId: ACSTransactionID
    ) -> JSONObject {
        var json = members("203", by: "A", "Format of one or more data elements is invalid", name, of: type)
        json["messageType"] = "Erro"
        json["messageVersion"] = .string(version.rawValue)
        json["acsTransID"] = .string(acsTransId.text)
        return json
    }

    /// 402, from the ACS: the CReq came when the transaction had timed out.
    static let lateCReq = members("402", by: "A", "Transaction timed out", "the challenge has ended", of: .creq)

    /// 402, from the SDK: no CRes came in time.
    static let missingCRes = members("402", by: "C", "Transaction timed out", "no CRes came in time", of: .cres)

    /// 203, from the ACS: what stands for any CReq that is not in order.
    static let invalidCReq = members(
        "203", by: "A", "Format of one or more data elements is invalid", "sdkCounterStoA", of: .creq)

    private static func members(
        _ code: String, by component: String, _ description: String, _ detail: String, of type: MessageType
    ) -> JSONObject {
        [
            "errorCode": .string(code), "errorComponent": .string(component),
            "errorDescription": .string(description), "errorDetail": .string(detail),
            "errorMessageType": .string(type.rawValue),
        ]
    }
}
