import TextAndTime

/// The bytes of `clientDataJSON`, written as WebAuthn Level 3 §5.8.1.1 specifies.
///
/// The same bytes are signed and sent. They are never serialized again.
package enum ClientData {
    /// Returns client data for a registration: type `webauthn.create`.
    package static func create(challenge: [UInt8], origin: String) -> [UInt8] {
        bytes(type: CollectedClientData.createType, challenge: challenge, origin: origin)
    }

    /// Returns client data for an authentication: type `webauthn.get`.
    package static func get(challenge: [UInt8], origin: String) -> [UInt8] {
        bytes(type: CollectedClientData.getType, challenge: challenge, origin: origin)
    }

    /// Returns client data for an authentication in the form of Secure Payment Confirmation: type `payment.get`.
    ///
    /// That specification leaves the order of members open. This order is Chromium's, so that the bytes equal a
    /// browser's.
    package static func payment(challenge: [UInt8], origin: String, _ payment: PaymentClientData) -> [UInt8] {
        bytes(type: CollectedClientData.paymentType, challenge: challenge, origin: origin, payment: payment)
    }

    // A page here is never in a frame. So crossOrigin is false, and the member topOrigin beside it is absent.
    private static func bytes(
        type: String, challenge: [UInt8], origin: String, payment: PaymentClientData? = nil
    ) -> [UInt8] {
        object([
            ("type", ccdToString(type)), ("challenge", ccdToString(Base64URL.encode(challenge))),
            ("origin", ccdToString(origin)), ("crossOrigin", Array("false".utf8)),
            ("payment", payment.map(bytes)),
        ])
    }

    private static func bytes(of payment: PaymentClientData) -> [UInt8] {
        let total = payment.total
        let instrument = payment.instrument
        return object([
            ("rpId", ccdToString(payment.rpId)), ("topOrigin", ccdToString(payment.topOrigin)),
            ("payeeName", ccdToString(payment.payeeName)), ("payeeOrigin", payment.payeeOrigin.map(ccdToString)),
            ("paymentEntitiesLogos", Array("[]".utf8)),
            ("total", object([("value", ccdToString(total.value)), ("currency", ccdToString(total.currency))])),
            (
                "instrument",
                object([
                    ("icon", ccdToString(instrument.icon)), ("displayName", ccdToString(instrument.displayName)),
                ])
            ),
        ])
    }

    /// Returns a JSON object of the members that have a value, in their order, without white space.
    private static func object(_ members: [(name: String, value: [UInt8]?)]) -> [UInt8] {
        let written = members.compactMap { member in
            member.value.map { ccdToString(member.name) + [UInt8(ascii: ":")] + $0 }
        }
        return [UInt8(ascii: "{")] + written.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "}")]
    }

    /// Returns CCDToString (§5.8.1.1): a quoted string in which only `"`, `\` and U+0000 to U+001F are escaped.
    package static func ccdToString(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = [quote]
        for byte in text.utf8 {
            switch byte {
            case quote, backslash: bytes += [backslash, byte]
            case 0x00...0x1F:
                bytes += [backslash] + Array("u00".utf8) + [hexDigit(byte >> 4), hexDigit(byte & 0x0F)]
            default: bytes.append(byte)
            }
        }
        bytes.append(quote)
        return bytes
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
