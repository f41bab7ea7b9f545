import StrictJSON
import TextAndTime

/// The three parts of a JWS in compact serialization (RFC 7515 §7.1), none of them empty, nor looked into.
struct JWSParts {
    let header: [UInt8]
    let payload: [UInt8]
    let signature: [UInt8]
    /// What the signature is over: the first two parts as they came.
    let signingInput: [UInt8]

    /// Nil unless there are three parts of strict base64url.
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

    /// The whole, from what was signed and its signature.
    static func compact(signingInput: [UInt8], signature: [UInt8]) -> String {
        String(decoding: signingInput, as: UTF8.self) + "." + Base64URL.encode(signature)
    }

    /// What is to be signed (RFC 7515 §5.1).
    static func signingInput(header: JSONObject, payload: [UInt8]) -> [UInt8] {
        Array("\(Base64URL.encode(header.serialized())).\(Base64URL.encode(payload))".utf8)
    }
}
