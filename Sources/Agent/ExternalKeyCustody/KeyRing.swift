package import Custody
package import Keys
package import Records
package import Signing

/// All keys of the agent: its own keys, and existing keys in other places.
package struct KeyRing: KeyCustody, ExternalKeyInspection {
    private let own: SealedKeyCustody
    private let external: ExternalKeyRing

    /// - Parameter clock: measures the limit for a token's answer.
    package init(own: SealedKeyCustody, external: ExternalKeys, clock: any AgentClock) {
        self.own = own
        self.external = ExternalKeyRing(external, clock: clock)
    }

    package func makeKey(of name: EnrollmentID, algorithm: SignatureAlgorithm, pin: PIN?) async throws -> MadeKey {
        try await own.makeKey(of: name, algorithm: algorithm, pin: pin)
    }

    package func changePIN(of key: KeyReference, from old: PIN, to new: PIN) async throws -> [UInt8] {
        try await own.changePIN(of: key, from: old, to: new)
    }

    package func sighting(_ uri: KeyURI) async throws -> KeySighting {
        try await external.sighting(uri)
    }

    package func inspect(_ uri: KeyURI, pin: PIN?) async throws -> ExternalKey {
        try await external.inspect(uri, pin: pin)
    }

    package func unlock(_ reference: KeyReference, pin: PIN?) async throws -> any UnlockedKey {
        switch reference.place {
        case .own: try await own.unlock(reference, pin: pin)
        case .external(let key): try await external.unlock(key, pin: pin)
        }
    }

    package func opensAtOnce(_ reference: KeyReference, pin: PIN?) -> Bool { own.opensAtOnce(reference, pin: pin) }

    package func isSame(_ one: [UInt8], as other: [UInt8], of name: EnrollmentID) -> Bool {
        own.isSame(one, as: other, of: name)
    }

    package func verify(_ key: KeyReference) async throws(CustodyError) { try await own.verify(key) }
}
