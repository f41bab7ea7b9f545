import Keys
import WebAuthn

/// WebAuthn's binary structures: each has one encoding only, so what was read is written as it came.
enum CBORChecks {
    static func cbor(_ input: [UInt8]) throws {
        guard let (item, consumed) = try? CBOR.decodePrefix(input) else {
            return try mustHold((try? CBOR.decode(input)) == nil, "what has no prefix is no whole")
        }
        try mustHold(item.encoded() == Array(input.prefix(consumed)), "an item has one encoding only")
        try mustHold(((try? CBOR.decode(input)) != nil) == (consumed == input.count), "a whole has no rest")
        try mustHold(try CBOR.decode(item.encoded()) == item, "what was written reads the same")
        try mustHold(depth(item) <= CBORLimits().maxDepth, "no more than 8 containers stand in one another")
    }

    static func coseKey(_ input: [UInt8]) throws {
        guard let (key, consumed) = try? COSEKey.decode(input) else { return }
        try mustHold(COSEKey.encode(key) == Array(input.prefix(consumed)), "a key has one encoding only")
        try mustHold(try PublicKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo) == key, "it is the same in DER")
    }

    static func authenticatorData(_ input: [UInt8]) throws {
        guard let data = try? AuthenticatorData.parse(input) else { return }
        try mustHold(data.encoded() == input, "authenticator data has one encoding only")
        try mustHold(data.rpIdHash.count == 32, "an RP ID's hash has 32 bytes")
        guard let credential = data.attestedCredential else { return }
        try mustHold((1...1_023).contains(credential.credentialId.count), "a credential id is bounded")
    }

    static func attestationObject(_ input: [UInt8]) throws {
        guard let object = try? AttestationObject.parse(input) else { return }
        try mustHold(object.encoded() == input, "an attestation object has one encoding only")
        guard let id = (try? AuthenticatorData.parse(object.authenticatorData))?.attestedCredential?.credentialId else {
            return
        }
        let response = try RegistrationResponse(credentialId: id, clientDataJSON: [], attestationObject: input)
        try mustHold(response.authenticatorData == object.authenticatorData, "a response has the object's data")
        let other = try? RegistrationResponse(credentialId: id + [0], clientDataJSON: [], attestationObject: input)
        try mustHold(other == nil, "another credential is not the one that is attested")
    }

    private static func depth(_ item: CBOR) -> Int {
        switch item {
        case .array(let items): 1 + (items.map(depth).max() ?? 0)
        case .map(let map): 1 + (map.entries.map { depth($0.value) }.max() ?? 0)
        default: 0
        }
    }
}
