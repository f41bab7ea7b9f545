import StrictJSON
import TextAndTime

/// The three parts of a JWS in compact serialization (RFC 7515 §7.1).
///
/// No part is empty, and none is parsed.
struct JWSParts {
    let header: [UInt8]
    let payload: [UInt8]
    let signature: [UInt8]
    /// The signed bytes: the first two parts as received.
    let signingInput: [UInt8]

    /// Splits a JWS.
    ///
    /// Returns `nil` unless there are three parts of strict base64url.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.decoded(parts[0]), let payload = Self.decoded(parts[1]),
            let signature = Self.decoded(parts[2])
        else { return nil }
        self.header = header
        self.payload = payload
        self.signature = signature
        signingInput = Array(bytes[..<parts[1].endIndex])
    }

    private static func decoded(_ part: ArraySlice<UInt8>) -> [UInt8]? {
        part.isEmpty ? nil : Base64URL.decode(part)
    }

    /// Returns the complete JWS from its signing input and signature.
    static func compact(signingInput: [UInt8], signature: [UInt8]) -> String {
        String(decoding: signingInput, as: UTF8.self) + "." + Base64URL.encode(signature)
    }

    /// Returns the bytes to sign (RFC 7515 §5.1).
    static func signingInput(header: JSONObject, payload: [UInt8]) -> [UInt8] {
        Array("\(Base64URL.encode(header.serialized())).\(Base64URL.encode(payload))".utf8)
    }
}
