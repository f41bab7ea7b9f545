import TextAndTime

/// The name of a private key on a PKCS #11 token: the path of a `pkcs11:` URI (RFC 7512 §2.3).
///
/// It names the token by its label or serial number and the key by its label or id, so that a PIN cannot reach another
/// token than the intended one.
package struct TokenKeyName: Sendable, Equatable {
    /// The attributes of the token, in bytes as the token stores them.
    let token: [TokenAttribute: [UInt8]]
    /// CKA_LABEL of the key, or `nil` for any label.
    let label: [UInt8]?
    /// CKA_ID of the key, or `nil` for any id.
    let id: [UInt8]?

    /// Reads the text that follows `pkcs11:`.
    init(_ text: Substring) throws(KeyURIError) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 1 else { throw Self.refusal(ofQuery: parts[1]) }
        var values: [String: [UInt8]] = [:]
        for attribute in text.split(separator: ";", omittingEmptySubsequences: false) {
            let (name, value) = try Self.attribute(attribute)
            guard values.updateValue(value, forKey: name) == nil else {
                throw KeyURIError("the pkcs11: URI has the attribute \(name) twice")
            }
        }
        guard values["token"] != nil || values["serial"] != nil, values["object"] != nil || values["id"] != nil else {
            throw KeyURIError(
                "a pkcs11: URI names the token (token= or serial=) and the key (object= or id=): "
                    + "pkcs11:token=payments;object=card")
        }
        if let type = values["type"], type != Array("private".utf8) {
            throw KeyURIError("type in a pkcs11: URI must be private: the URI names the key that signs")
        }
        (label, id) = (values["object"], values["id"])
        token = Dictionary(
            uniqueKeysWithValues: TokenAttribute.allCases.compactMap { name in
                values[name.rawValue].map { (name, $0) }
            })
    }

    private static func attribute(_ text: Substring) throws(KeyURIError) -> (String, [UInt8]) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let limit = maxBytes[name] else {
            throw KeyURIError(
                "a pkcs11: URI has attributes of the form name=value, divided by ; and of these names: "
                    + maxBytes.keys.sorted().joined(separator: ", "))
        }
        guard parts.count == 2, let value = PercentEncoding.decode(String(parts[1])), 1...limit ~= value.count else {
            throw KeyURIError(
                "the attribute \(name) of a pkcs11: URI has 1 to \(limit) bytes, each a character or % and two "
                    + "hexadecimal digits")
        }
        return (name, value)
    }

    /// The most bytes of each attribute.
    ///
    /// In PKCS #11 v2.40, a token's label and manufacturer have 32 bytes, its model and serial number 16.
    private static let maxBytes = [
        "token": 32, "manufacturer": 32, "model": 16, "serial": 16, "object": 255, "id": 255, "type": 16,
    ]

    private static func refusal(ofQuery query: Substring) -> KeyURIError {
        query.contains("pin-")
            ? KeyURIError("a key URI must not hold a PIN or the place of one: the URI is stored and shown")
            : KeyURIError("a pkcs11: URI has no query: the agent's configuration says which module is loaded")
    }
}

/// The attributes by which a URI can name a token.
enum TokenAttribute: String, CaseIterable {
    case token, manufacturer, model, serial
}
