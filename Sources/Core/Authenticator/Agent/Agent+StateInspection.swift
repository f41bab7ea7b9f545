import IssuerProtocol
import Journal
import Keys
import Records
import Signing
import StoreTables

/// The error of a state that is damaged, or that the given secret does not open.
package struct UnfitStateError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String
}

extension Agent {
    /// Returns the number of enrollments that have not ended.
    package func enrollmentCount() async throws -> Int { try await ports.store.read { try $0.enrollmentCount() } }

    /// Verifies that a state is intact and opens under the secret.
    ///
    /// Used before a state is moved, and at the place to which it was moved.
    ///
    /// Checks the journal, the rows against the journal, every row, every token, and every key that the agent made. A
    /// key without a PIN must sign, and must be the registered key. A key with a PIN is opened as far as that is
    /// possible without the PIN. The check does not write.
    ///
    /// - Throws: ``UnfitStateError``; the sealing's error for another secret; `StoreError`.
    /// - Returns: the number of enrollments that have not ended.
    package func expectWhole() async throws -> Int {
        let verdict = try await journal.verify()
        if let fault = verdict.fault { throw UnfitStateError(description: "its journal: \(fault)") }
        var count = 0
        for try await page in EnrollmentPages(ports: ports) {
            for enrollment in page { try await expectUsable(enrollment) }
            count += page.count
        }
        return count
    }

    private func expectUsable(_ enrollment: Enrollment) async throws {
        let id = enrollment.id
        guard !enrollment.isDamaged else { throw UnfitStateError(description: enrollment.damage) }
        if let token = enrollment.membership?.sealedToken { _ = try ports.sealing.open(token, for: id) }
        for subscription in try await ports.store.read({ try $0.subscriptions(of: id) }) {
            _ = try ports.sealing.openPushKey(subscription.sealedKey, for: id)
        }
        guard enrollment.key == .own, enrollment.credentialKey != nil else { return }
        do {
            guard enrollment.authnType != .pin else { return try await ports.custody.verify(enrollment.keyReference) }
            _ = try await ports.custody.unlock(enrollment.keyReference, pin: nil)
        } catch let failure as CustodyError {
            throw UnfitStateError(description: "\(failure)")
        }
    }
}
