import Keys
import Testing

@testable import WebAuthn

@Suite struct RegistrationVerifierTests {
    @Test(arguments: AttestationFormat.allCases, SignatureAlgorithm.allCases)
    func `a registration in order holds`(format: AttestationFormat, algorithm: SignatureAlgorithm) throws {
        let sample = try SampleRegistration(format: format, algorithm: algorithm)
        let verified = try sample.verify()
        #expect(verified.credentialId == Sample.credentialId)
        #expect(verified.publicKey == sample.key.publicKey)
        #expect(verified.aaguid == Sample.aaguid)
        #expect(verified.signCount == 0)
        #expect(verified.format == format)
        #expect(verified.flags == [.userPresent, .userVerified, .attestedCredentialData])
    }

    @Test(arguments: W3CVector.inOrder)
    func `the W3C's registrations hold`(vector: W3CVector) throws {
        let verified = try verify(vector)
        #expect(verified.credentialId == vector.credentialId)
        #expect(verified.aaguid == vector.aaguid)
    }

    @Test(arguments: [W3CVector.crossOrigin, .topOrigin])
    func `the W3C's registrations in a frame are refused`(vector: W3CVector) throws {
        let failure = try #require(throws: VerificationError.self) { try verify(vector) }
        #expect(failure.code == .crossOrigin)
    }

    @Test func `the W3C's self attestation with one byte changed does not hold`() throws {
        // The fifth byte of r, within the statement's signature.
        let altered = W3CVector.packedSelf.attestationObject.flipping(40)
        let failure = try #require(throws: VerificationError.self) {
            try verify(.packedSelf, attestationObject: altered)
        }
        #expect(failure.code == .attestation)
    }

    @Test(arguments: ClientDataCase.all.indices)
    func `each member of the client data is checked`(index: Int) throws {
        var sample = try SampleRegistration()
        let expected = ClientDataCase.all[index]
        expected.change(&sample.clientData)
        let failure = try #require(throws: VerificationError.self) { try sample.verify() }
        #expect(failure.code == expected.code)
    }

    @Test(arguments: FlagsCase.all.indices)
    func `each flag is checked`(index: Int) throws {
        var sample = try SampleRegistration()
        let expected = FlagsCase.all[index]
        sample.flags = expected.flags
        let failure = try #require(throws: VerificationError.self) { try sample.verify() }
        #expect(failure.code == expected.code)
    }

    @Test func `another RP ID is refused`() throws {
        var sample = try SampleRegistration()
        sample.rpId = "example"
        let failure = try #require(throws: VerificationError.self) { try sample.verify() }
        #expect(failure == VerificationError(.rpId, "rpIdHash is not the SHA-256 of issuer.example"))
    }

    @Test func `without UV it holds if none is required`() throws {
        var sample = try SampleRegistration()
        sample.flags = [.userPresent]
        #expect(try sample.verify(userVerificationRequired: false).flags.contains(.userVerified) == false)
    }

    @Test func `a backed-up credential holds if it may be backed up`() throws {
        var sample = try SampleRegistration()
        sample.flags = [.userPresent, .userVerified, .backupEligible, .backupState]
        #expect(try sample.verify().flags.contains(.backupState))
    }

    @Test(arguments: SignatureAlgorithm.allCases, [[], [-257], [-257, -7, -35, -8]])
    func `an algorithm that was not asked for is refused`(algorithm: SignatureAlgorithm, asked: [Int]) throws {
        let sample = try SampleRegistration(algorithm: algorithm)
        let others = asked.filter { $0 != algorithm.rawValue }
        let failure = try #require(throws: VerificationError.self) { try sample.verify(algorithms: others) }
        #expect(failure.code == .algorithm)
        #expect(try sample.verify(algorithms: others + [algorithm.rawValue]).signCount == 0)
    }

    @Test(arguments: SignatureAlgorithm.allCases, SignatureAlgorithm.allCases)
    func `a self attestation holds under the key's own algorithm only`(
        key: SignatureAlgorithm, stated: SignatureAlgorithm
    ) throws {
        var sample = try SampleRegistration(format: .packed, algorithm: key)
        sample.statedAlgorithm = stated
        if key == stated {
            #expect(try sample.verify().publicKey.algorithm == key)
        } else {
            let failure = try #require(throws: VerificationError.self) { try sample.verify() }
            #expect(failure == VerificationError(.attestation, "attStmt's alg is not the credential key's"))
        }
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `a self attestation by another key does not hold`(algorithm: SignatureAlgorithm) throws {
        var sample = try SampleRegistration(format: .packed, algorithm: algorithm)
        let message = try SignedBytes.of(
            authenticatorData: sample.response().authenticatorData, clientDataJSON: sample.clientData.bytes)
        let other = try SigningKey.generate(algorithm).signature(over: message)
        sample.alterSignature = { _ in other }
        let failure = try #require(throws: VerificationError.self) { try sample.verify() }
        #expect(failure.code == .attestation)
    }

    @Test func `a self attestation that is no signature does not hold`() throws {
        var sample = try SampleRegistration(format: .packed)
        sample.alterSignature = { _ in [0x30, 0x00] }
        let failure = try #require(throws: VerificationError.self) { try sample.verify() }
        #expect(failure.code == .attestation)
    }

    private func verify(
        _ vector: W3CVector, attestationObject: [UInt8]? = nil
    ) throws -> VerifiedRegistration {
        let response = try RegistrationResponse(
            credentialId: vector.credentialId, clientDataJSON: vector.registrationClientDataJSON,
            attestationObject: attestationObject ?? vector.attestationObject)
        return try RegistrationVerifier.verify(
            response, challenge: vector.registrationChallenge, origin: W3CVector.origin, rpId: W3CVector.rpId,
            userVerificationRequired: false, algorithms: [-7, -35, -8])
    }
}
