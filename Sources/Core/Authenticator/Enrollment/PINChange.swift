import IssuerProtocol
import Journal
import Keys
import Records
import Signing
import StoreTables

/// The command that changes the PIN of a key that the agent made.
struct PINChange: Sendable {
    /// The longest wait for decisions of the enrollment that are ahead in the queue, in seconds.
    static let patience: Double = 30

    let ports: Ports
    let queues: SignatureQueues

    /// Changes the PIN of an enrollment's key.
    ///
    /// A wrong old PIN uses up a try, as at an approval. If the change does not get its turn in time, no PIN is tried.
    ///
    /// - Throws: `CommandError` if the PIN was not changed.
    func changePIN(_ id: EnrollmentID, from old: PIN, to new: PIN) async throws {
        try await inTurn(id) {
            let enrollment = try await changeable(id)
            guard let sealedKey = enrollment.sealedKey else {
                throw CommandError(.keyUnavailable, "the enrollment \(id) has no key of the agent's own")
            }
            let sealed: [UInt8]
            do {
                sealed = try await PINCheck(ports: ports.decision).tryPIN(enrollment) {
                    try await ports.custody.changePIN(of: enrollment.keyReference, from: old, to: new)
                }
            } catch let failure as CustodyError {
                throw CommandError(failure)
            }
            // While the key was opened, the enrollment may have ended, another host may have changed its PIN, or a
            // change of the secret may have sealed the same key anew.
            let isChanged = try await ports.store.write { store in
                let held = try store.enrollment(id)
                let isSame = held?.hasKey(of: enrollment, in: ports.custody) ?? false
                let key = Resealing(from: isSame ? held?.sealedKey ?? sealedKey : sealedKey, to: sealed)
                let change = EnrollmentTransition.pinChanged(isGuessable: new.isGuessable, key: key)
                guard let changed = try store.change(id, change) else { return false }
                try store.record(.pinChanged(changed), at: ports.clock.now)
                return true
            }
            guard isChanged else {
                guard try await ports.store.read({ try $0.enrollment(id)?.isOver }) == true else {
                    throw CommandError(
                        .failed, "the PIN was not changed: another host changed that of enrollment \(id) meanwhile")
                }
                throw CommandError(.notEnrolled, "the enrollment \(id) was ended while its PIN was being changed")
            }
        }
    }

    private func inTurn(_ id: EnrollmentID, _ change: () async throws -> Void) async throws {
        let wanted = DecisionLimit(for: Self.patience, on: ports.patience)
        do {
            try await wanted.perform { [queues] in try await queues.enter(id) }
        } catch is CancellationError where wanted.overBecause != nil {
            throw CommandError(
                .notInTime, "the PIN was not changed: decisions of enrollment \(id) took too long; try again")
        }
        defer { queues.leave(id) }
        try await change()
    }

    /// Returns the enrollment if its PIN can be changed now, without counting a try.
    ///
    /// - Throws: `CommandError` if it cannot.
    @discardableResult
    func changeable(_ id: EnrollmentID) async throws -> Enrollment {
        guard let enrollment = try await ports.store.read({ try $0.enrollment(id) }), !enrollment.isOver else {
            throw CommandError(.notEnrolled, "the enrollment \(id) has ended")
        }
        try enrollment.expectWhole()
        guard enrollment.authnType == .pin else {
            throw CommandError(
                .invalidArgument, "the enrollment \(id) is of authnType \(enrollment.authnType), which has no PIN")
        }
        if let key = enrollment.key.external {
            throw CommandError(
                .invalidArgument,
                "the agent does not manage the PIN of the key \(key.uri.text): change it with the tools of its token, TPM or file"
            )
        }
        try PINCheck(ports: ports.decision).expectNotBlocked(enrollment)
        return enrollment
    }
}
