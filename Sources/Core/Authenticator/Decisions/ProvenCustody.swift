import IssuerProtocol
import Journal
import Keys
import Records
import Signing

/// A custody in which a key signs only for its own enrollment, and only after a test.
///
/// The test is one signature that verifies, once since the start.
struct ProvenCustody: KeyCustody {
    let real: any KeyCustody
    let clock: any AgentClock
    let health: KeyHealth
    let hub: EventHub

    func unlock(_ reference: KeyReference, pin: PIN?) async throws -> any UnlockedKey {
        let name = reference.enrollment
        let key = try await noting(reference.place.extent, of: name) { try await real.unlock(reference, pin: pin) }
        // The registered key of an enrollment never changes: the caller's value from before the key was opened still
        // holds.
        try await noting(.signature, of: name) { try prove(key, of: name, reference.registered) }
        return key
    }

    func verify(_ reference: KeyReference) async throws(CustodyError) {
        let name = reference.enrollment
        do throws(CustodyError) {
            try await real.verify(reference)
            health.record(KeyTest(extent: .seal, at: clock.now, problem: nil), of: name)
        } catch {
            record(error, .seal, of: name)
            throw error
        }
    }

    private func prove(_ key: any UnlockedKey, of name: EnrollmentID, _ registered: PublicKey?) throws {
        if let registered, registered != key.publicKey {
            throw CustodyError(
                .unavailable,
                "the key of enrollment \(name) is another one than the one that was registered; put that back")
        }
        guard !health.isProven(name) else { return }
        try key.prove()
        health.record(KeyTest(extent: .signature, at: clock.now, problem: nil), of: name)
    }

    private func noting<T>(
        _ extent: KeyTest.Extent, of name: EnrollmentID, _ look: () async throws -> T
    ) async throws -> T {
        do {
            return try await look()
        } catch let failure as CustodyError {
            record(failure, extent, of: name)
            throw failure
        }
    }

    /// Records a failed test of a key.
    ///
    /// A failure about a PIN is not recorded.
    private func record(_ failure: CustodyError, _ extent: KeyTest.Extent, of name: EnrollmentID) {
        guard !failure.isAboutPIN else { return }
        let test = KeyTest(extent: extent, at: clock.now, problem: failure.description)
        if health.record(test, of: name) { hub.publish(.keyFailed(name)) }
    }

    // MARK: As it is

    func makeKey(of name: EnrollmentID, algorithm: SignatureAlgorithm, pin: PIN?) async throws -> MadeKey {
        try await real.makeKey(of: name, algorithm: algorithm, pin: pin)
    }

    func changePIN(of key: KeyReference, from old: PIN, to new: PIN) async throws -> [UInt8] {
        try await real.changePIN(of: key, from: old, to: new)
    }

    func opensAtOnce(_ key: KeyReference, pin: PIN?) -> Bool { real.opensAtOnce(key, pin: pin) }

    func isSame(_ one: [UInt8], as other: [UInt8], of name: EnrollmentID) -> Bool {
        real.isSame(one, as: other, of: name)
    }
}

extension KeyPlace {
    /// The extent of the test if a key is only opened: an external key also signs whenever it is opened.
    fileprivate var extent: KeyTest.Extent { self == .own ? .seal : .signature }
}
