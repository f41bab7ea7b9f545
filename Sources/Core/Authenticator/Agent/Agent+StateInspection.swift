import IssuerProtocol
import Journal
import Keys
import Records
import Signing
import StoreTables

/// Why a state is not whole, or not under the secret that was given.
package struct UnfitStateError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String
}

extension Agent {
    /// How many enrollments are not over.
    package func enrollmentCount() async throws -> Int { try await ports.store.read { try $0.enrollmentCount() } }

    /// Sees that a state is whole and opens under the secret: before it is moved, and where it was moved to.
    ///
    /// Its journal and what that says of the rows, every row, every token, and every key of the agent's own: one without
    /// a PIN signs, and is the registered one; one with a PIN opens as far as that goes without the PIN. Nothing is written.
    ///
    /// - Throws: ``UnfitStateError``; what the sealing throws for another secret; `StoreError`.
    /// - Returns: how many enrollments are not over.
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
            guard enrollment.authnType != .pin else { return try await ports.custody.check(enrollment.keyReference) }
            _ = try await ports.custody.unlock(enrollment.keyReference, pin: nil)
        } catch let failure as CustodyError {
            throw UnfitStateError(description: "\(failure)")
        }
    }
}
