import IssuerProtocol
import Keys
import Records
import Signing

/// The opening of an approval's key, with a PIN if the enrollment takes one.
extension Decider {
    /// Opens the enrollment's key for its user, and signs and commits with it.
    ///
    /// Called in the enrollment's queue.
    ///
    /// A PIN that was right counts as right, even if the request ends before it is decided. The counted try is taken
    /// back with the decision, or otherwise in a write of its own.
    func opened(
        _ found: Decidable, on terms: Terms, then decide: (any UnlockedKey) async throws -> DecidedRequest
    ) async throws -> DecidedRequest {
        let key = try await unlocked(found.enrollment, for: found.request, on: terms)
        do {
            return try await decide(key)
        } catch {
            // The error of the decision matters more than a try that could not be taken back.
            if terms.pin != nil { try? await PINCheck(ports: ports).succeeded(found.enrollment) }
            throw error
        }
    }

    private func unlocked(
        _ enrollment: Enrollment, for request: RequestRecord, on terms: Terms
    ) async throws -> any UnlockedKey {
        do {
            guard enrollment.authnType == .pin else {
                if terms.pin != nil { throw CustodyError(noPINFor: enrollment) }
                return try await unlock(enrollment, on: terms)
            }
            let check = PINCheck(ports: ports)
            guard terms.pin != nil else {
                // Do not ask for a PIN that would not be tried.
                try check.expectNotBlocked(enrollment)
                throw CommandError(pinWantedFor: request)
            }
            return try await check.tryPIN(enrollment) {
                let key = try await unlock(enrollment, on: terms)
                guard key.verifiesUser else { throw CustodyError(unverifiedBy: enrollment) }
                return key
            }
        } catch let failure as CustodyError {
            throw CommandError(failure, request: request)
        }
    }

    private func unlock(_ enrollment: Enrollment, on terms: Terms) async throws -> any UnlockedKey {
        let (custody, reference, pin) = (ports.custody, enrollment.keyReference, terms.pin)
        return try await terms.perform(isShort: custody.opensAtOnce(reference, pin: pin)) {
            try await custody.unlock(reference, pin: pin)
        }
    }
}

extension CustodyError {
    fileprivate init(noPINFor enrollment: Enrollment) {
        self.init(
            .takesNoPIN,
            "enrollment \(enrollment.id) is of authnType \(enrollment.authnType): it takes no PIN, and nothing would check "
                + "one")
    }

    /// Makes the error of a key that opened without a check of its PIN, so that no user was verified.
    fileprivate init(unverifiedBy enrollment: Enrollment) {
        self.init(.unavailable, "the key of enrollment \(enrollment.id) opened without its PIN being checked")
    }
}
