import StrictJSON

/// The octets of `clientDataJSON`, written as WebAuthn Level 3 §5.8.1.1 says.
///
/// The octets that are written here are the octets that are signed and sent; no one serializes them again.
package enum ClientData {
    /// For a registration: type `webauthn.create`.
    package static func create(challenge: [UInt8], origin: String) -> [UInt8] {
        octets(type: CollectedClientData.createType, challenge: challenge, origin: origin)
    }

    /// For an authentication: type `webauthn.get`.
    package static func get(challenge: [UInt8], origin: String) -> [UInt8] {
        octets(type: CollectedClientData.getType, challenge: challenge, origin: origin)
    }

    // There is no frame around a page here, so crossOrigin is false and topOrigin is absent.
    private static func octets(type: String, challenge: [UInt8], origin: String) -> [UInt8] {
        var octets = Array(#"{"type":"#.utf8)
        octets += ccdToString(type)
        octets += #","challenge":"#.utf8
        octets += ccdToString(Base64URL.encode(challenge))
        octets += #","origin":"#.utf8
        octets += ccdToString(origin)
        octets += #","crossOrigin":false}"#.utf8
        return octets
    }

    /// CCDToString (§5.8.1.1): a quoted string in which `"`, `\` and U+0000 to U+001F alone are escaped.
    package static func ccdToString(_ text: String) -> [UInt8] {
        var octets: [UInt8] = [quote]
        for octet in text.utf8 {
            switch octet {
            case quote, backslash: octets += [backslash, octet]
            case 0x00...0x1F:
                octets += [backslash] + Array("u00".utf8) + [hexDigit(octet >> 4), hexDigit(octet & 0x0F)]
            default: octets.append(octet)
            }
        }
        octets.append(quote)
        return octets
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
