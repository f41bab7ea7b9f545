import StrictJSON
import ThreeDS

/// The Erro of an ACS or an SDK (errorCode and errorComponent of EMV 3-D Secure).
enum EMVErro {
    enum MessageType: String, Sendable { case creq = "CReq", cres = "CRes" }

    /// Returns 203, from the ACS: an element violates the format of the version.
    static func invalidElement(
        _ name: String, of type: MessageType, _ version: EMVProfile.Version, _ acsTransId: ACSTransactionID
    ) -> JSONObject {
        var json = members("203", by: "A", "Format of one or more data elements is invalid", name, of: type)
        json["messageType"] = "Erro"
        json["messageVersion"] = .string(version.rawValue)
        json["acsTransID"] = .string(acsTransId.text)
        return json
    }

    /// 402, from the ACS: the CReq came after the transaction had timed out.
    static let lateCReq = members("402", by: "A", "Transaction timed out", "the challenge has ended", of: .creq)

    /// 402, from the SDK: no CRes came in time.
    static let missingCRes = members("402", by: "C", "Transaction timed out", "no CRes came in time", of: .cres)

    /// 203, from the ACS; it stands for any invalid CReq.
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
