import Testing

@testable import WebAuthn

@Suite struct AttestationObjectTests {
    @Test(arguments: W3CVector.inOrder)
    func `the W3C's attestation objects are read and written back the same`(vector: W3CVector) throws {
        let object = try AttestationObject.parse(vector.attestationObject)
        #expect(object.encoded() == vector.attestationObject)
        #expect(try AuthenticatorData.parse(object.authenticatorData).encoded() == object.authenticatorData)
    }

    @Test func `the format and the signature are those of the statement`() throws {
        let none = try AttestationObject.parse(W3CVector.none.attestationObject)
        #expect(none.format == .none)
        #expect(none.signature == nil)
        let packed = try AttestationObject.parse(W3CVector.packedSelf.attestationObject)
        #expect(packed.format == .packed)
        #expect(packed.signature?.prefix(4) == [0x30, 0x44, 0x02, 0x20])
    }

    @Test(arguments: [
        ["fmt": "none", "attStmt": .map([:])] as CBORMap, ["fmt": "none", "attStmt": .map([:]), "authData": "text"],
        ["fmt": 1, "attStmt": .map([:]), "authData": .bytes([])],
        ["fmt": "none", "attStmt": .array([]), "authData": .bytes([])],
        ["fmt": "none", "attStmt": .map([:]), "authData": .bytes([]), "x": 1],
        // CTAP's own form of the same object.
        [1: "none", 2: .bytes([]), 3: .map([:])],
    ])
    func `an object of other members is refused`(map: CBORMap) {
        #expect(throws: AttestationObjectError.members) { try AttestationObject.parse(CBOR.map(map).encoded()) }
    }

    @Test(arguments: ["tpm", "None", "none ", ""])
    func `another format is refused`(name: String) {
        let map: CBORMap = ["fmt": .text(name), "attStmt": .map([:]), "authData": .bytes([])]
        #expect(throws: AttestationObjectError.format) { try AttestationObject.parse(CBOR.map(map).encoded()) }
    }

    static let wrongStatements: [(String, CBORMap)] = [
        ("none", ["alg": -7]), ("packed", [:]), ("packed", ["alg": -7]), ("packed", ["sig": .bytes([1])]),
        ("packed", ["alg": -257, "sig": .bytes([1])]), ("packed", ["alg": "-7", "sig": .bytes([1])]),
        ("packed", ["alg": -7, "sig": "1"]), ("packed", ["alg": -7, "sig": .bytes([1]), "x5c": .array([.bytes([1])])]),
        ("packed", ["alg": -7, "sig": .bytes([1]), "ecdaaKeyId": .bytes([1])]),
    ]

    @Test(arguments: wrongStatements)
    func `a statement of other members is refused`(format: String, statement: CBORMap) {
        let map: CBORMap = ["fmt": .text(format), "attStmt": .map(statement), "authData": .bytes([])]
        #expect(throws: AttestationObjectError.statement) { try AttestationObject.parse(CBOR.map(map).encoded()) }
    }

    @Test func `what is no CBOR is refused with its reason`() {
        #expect(throws: AttestationObjectError.cbor(CBORError(offset: 0, reason: .truncated))) {
            try AttestationObject.parse([])
        }
        #expect(throws: AttestationObjectError.cbor(CBORError(offset: 194, reason: .trailingBytes))) {
            try AttestationObject.parse(W3CVector.none.attestationObject + [0])
        }
    }
}
