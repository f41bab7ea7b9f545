import Keys
import Testing

@testable import WebAuthn

@Suite struct AssertionVerifierTests {
    @Test(arguments: SignatureAlgorithm.allCases)
    func `an assertion in order holds and gives its count`(algorithm: SignatureAlgorithm) throws {
        #expect(try SampleAssertion(algorithm: algorithm).verify() == 6)
    }

    @Test(arguments: W3CVector.inOrder)
    func `the W3C's assertions hold, their count of 0 not being checked`(vector: W3CVector) throws {
        #expect(try verify(vector) == 0)
    }

    @Test(arguments: W3CVector.inOrder)
    func `the W3C's assertions do not hold if the count must rise`(vector: W3CVector) throws {
        let failure = try #require(throws: VerificationError.self) {
            try verify(vector, signCount: .mustRise(above: 0))
        }
        #expect(failure.code == .signCount)
    }

    @Test(arguments: [W3CVector.crossOrigin, .topOrigin])
    func `the W3C's assertions in a frame are refused`(vector: W3CVector) throws {
        let failure = try #require(throws: VerificationError.self) { try verify(vector) }
        #expect(failure.code == .crossOrigin)
    }

    @Test(arguments: W3CVector.inOrder)
    func `one assertion's signature does not hold for another`(vector: W3CVector) throws {
        let others = W3CVector.inOrder.filter { $0.section != vector.section }
        for other in others {
            let failure = try #require(throws: VerificationError.self) {
                try verify(vector, signature: other.signature)
            }
            #expect(failure.code == .signature)
        }
    }

    @Test(arguments: ClientDataCase.all.indices)
    func `each member of the client data is checked`(index: Int) throws {
        var sample = try SampleAssertion()
        let expected = ClientDataCase.all[index]
        expected.change(&sample.clientData)
        let failure = try #require(throws: VerificationError.self) { try sample.verify() }
        #expect(failure.code == expected.code)
    }

    @Test(arguments: FlagsCase.all.indices)
    func `each flag is checked`(index: Int) throws {
        var sample = try SampleAssertion()
        let expected = FlagsCase.all[index]
        sample.flags = expected.flags
        let failure = try #require(throws: VerificationError.self) { try sample.verify() }
        #expect(failure.code == expected.code)
    }

    @Test func `another RP ID is refused`() throws {
        var sample = try SampleAssertion()
        sample.rpId = "Issuer.example"
        let failure = try #require(throws: VerificationError.self) { try sample.verify() }
        #expect(failure.code == .rpId)
    }

    @Test func `without UV it holds if none is required`() throws {
        var sample = try SampleAssertion()
        sample.flags = [.userPresent]
        #expect(try sample.verify(userVerificationRequired: false) == 6)
    }

    @Test func `another credential is refused`() throws {
        var sample = try SampleAssertion()
        sample.credentialId = Sample.credentialId.flipping(0)
        let failure = try #require(throws: VerificationError.self) { try sample.verify() }
        #expect(failure.code == .credentialId)
    }

    @Test func `another user handle is refused, none is taken`() throws {
        var sample = try SampleAssertion()
        sample.userHandle = nil
        #expect(try sample.verify() == 6)
        sample.userHandle = Sample.userHandle.flipping(0)
        let failure = try #require(throws: VerificationError.self) { try sample.verify() }
        #expect(failure.code == .userHandle)
    }

    @Test(arguments: [(UInt32(0), UInt32(0)), (0, 1), (5, 5), (4, 5), (.max, .max)])
    func `a count that does not rise is refused`(signCount: UInt32, last: UInt32) throws {
        var sample = try SampleAssertion()
        sample.signCount = signCount
        let failure = try #require(throws: VerificationError.self) {
            try sample.verify(signCount: .mustRise(above: last))
        }
        #expect(failure == VerificationError(.signCount, "signCount is not above \(last)"))
        #expect(try sample.verify(signCount: .notChecked) == signCount)
    }

    @Test(arguments: [(UInt32(1), UInt32(0)), (.max, .max - 1), (1_000, 5)])
    func `a count that rises holds, whatever it skips`(signCount: UInt32, last: UInt32) throws {
        var sample = try SampleAssertion()
        sample.signCount = signCount
        #expect(try sample.verify(signCount: .mustRise(above: last)) == signCount)
    }

    @Test(arguments: SignatureAlgorithm.allCases, [0, 10, 40, -1])
    func `a signature with one byte changed does not hold`(algorithm: SignatureAlgorithm, index: Int) throws {
        var sample = try SampleAssertion(algorithm: algorithm)
        sample.alterSignature = { $0.flipping(index) }
        let failure = try #require(throws: VerificationError.self) { try sample.verify() }
        #expect(failure.code == .signature)
    }

    @Test(arguments: SignatureAlgorithm.allCases, SignatureAlgorithm.allCases)
    func `a signature of another key does not hold`(one: SignatureAlgorithm, another: SignatureAlgorithm) throws {
        let other = try SigningKey.generate(another).publicKey
        let failure = try #require(throws: VerificationError.self) {
            try SampleAssertion(algorithm: one).verify(publicKey: other)
        }
        #expect(failure.code == .signature)
    }

    @Test func `a count that was raised after the signing does not hold`() throws {
        var sample = try SampleAssertion()
        sample.alterAuthenticatorData = { $0.dropLast() + [7] }
        let failure = try #require(throws: VerificationError.self) { try sample.verify() }
        #expect(failure.code == .signature)
    }

    @Test func `UV that was set after the signing does not hold`() throws {
        var sample = try SampleAssertion()
        sample.flags = [.userPresent]
        sample.alterAuthenticatorData = { data in
            var data = data
            data[32] |= AuthenticatorFlags.userVerified.rawValue
            return data
        }
        let failure = try #require(throws: VerificationError.self) { try sample.verify() }
        #expect(failure.code == .signature)
    }

    @Test func `authenticator data that is not of its form is refused`() throws {
        var sample = try SampleAssertion()
        sample.alterAuthenticatorData = { $0 + [0] }
        let failure = try #require(throws: VerificationError.self) { try sample.verify() }
        #expect(failure.code == .authenticatorData)
    }

    @Test func `an assertion that attests a credential is refused`() throws {
        var sample = try SampleAssertion()
        sample.attestedCredential = try AttestedCredential(
            aaguid: Sample.aaguid, credentialId: Sample.credentialId, publicKey: sample.key.publicKey)
        let failure = try #require(throws: VerificationError.self) { try sample.verify() }
        #expect(failure.code == .authenticatorData)
    }

    private func verify(
        _ vector: W3CVector, signature: [UInt8]? = nil, signCount: SignCountRule = .notChecked
    ) throws -> UInt32 {
        let registration = try RegistrationResponse(
            credentialId: vector.credentialId, clientDataJSON: vector.registrationClientDataJSON,
            attestationObject: vector.attestationObject)
        let response = AuthenticationResponse(
            credentialId: vector.credentialId, clientDataJSON: vector.clientDataJSON,
            authenticatorData: vector.authenticatorData, signature: signature ?? vector.signature)
        return try AssertionVerifier.verify(
            response, publicKey: registration.publicKey, credentialId: vector.credentialId,
            challenge: vector.challenge, origin: W3CVector.origin, rpId: W3CVector.rpId,
            userVerificationRequired: false, signCount: signCount)
    }
}
