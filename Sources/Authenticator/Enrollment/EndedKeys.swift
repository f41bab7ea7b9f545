import Logging
import ThreeDS

/// Removes the keys of ended enrollments and of their push subscriptions.
///
/// Also after a crash that came between the row and the key.
struct EndedKeys: Sendable {
    let ports: Ports

    /// Removes the key of an enrollment that is over; whoever made one for it calls this when the key is made.
    func remove(of id: EnrollmentID) async throws {
        guard try await ports.store.read({ try $0.enrollment(id)?.isOver }) == true else { return }
        // Over is for good, so nothing can bring the enrollment back before its key is gone.
        try await ports.custody.removeKey(named: id)
        let now = ports.clock.now
        try await ports.store.write { store in
            guard try store.change(id, .keyRemoved) != nil else { return }
            try store.removeSubscriptions(of: id, at: now)
        }
    }

    /// Removes the key of an ended enrollment, unless it is still being made.
    ///
    /// That one is left to the ``Enroller``, and after a crash to the next start: removed before it is there, it would
    /// stay.
    func removeUnlessBeingMade(of id: EnrollmentID) async throws {
        guard try await ports.store.read({ try $0.enrollment(id)?.awaitsKeyRemoval }) == true else { return }
        // Meanwhile another may have removed it, which is no error.
        try await remove(of: id)
    }

    /// Removes key files of this host whose enrollments another host has ended.
    ///
    /// That host says of the row that the key is removed, and cannot know of a file here. The file of an enrollment whose
    /// row is not there stays. A file that cannot be removed, or files that cannot be listed, are said so, and tried again.
    func removeFiles(_ log: Logger) async throws {
        // One host alone has removed it.
        guard ports.shares != nil else { return }
        var left: ArraySlice<EnrollmentID>
        do {
            left = try ports.custody.keysInFiles()[...]
        } catch {
            // The retention and erasures do not wait for that.
            return log.error("a key could not be removed", metadata: ["reason": "\(error)"])
        }
        while !left.isEmpty {
            let some = left.prefix(Self.filesInStep)
            left = left.dropFirst(Self.filesInStep)
            let ended = try await ports.store.read { store in
                try some.compactMap { try store.enrollment($0) }.filter(\.isOver)
            }
            for enrollment in ended {
                do {
                    // Over is for good.
                    try await ports.custody.removeKey(named: enrollment.id)
                    log.notice(
                        "the key file of an enrollment that another host ended was removed",
                        metadata: enrollment.logged())
                } catch {
                    log.error("a key could not be removed", metadata: enrollment.logged(["reason": "\(error)"]))
                }
            }
        }
    }

    /// How many rows one read of the store has.
    private static let filesInStep = 64

    /// At start: enrollments that never got their key to the issuer end, and no ended one keeps a key.
    ///
    /// A key that cannot be removed is said so, and tried again at the next start.
    func sweep(_ log: Logger) async throws {
        for id in try await ports.store.read({ try $0.enrollmentIDs(at: .keyToRemove) }) {
            guard let enrollment = try await ports.store.read({ try $0.enrollment(id) }) else { continue }
            if case .keyless = enrollment.state {
                // Nothing else runs here at start, but another host may be making its key at this moment.
                let age = ports.clock.now.seconds(since: enrollment.startedAt)
                guard ports.shares == nil || age >= RegistrationDelivery.longest else { continue }
                let now = ports.clock.now
                try await ports.store.write { _ = try $0.change(id, .ended(at: now)) }
            }
            do {
                try await remove(of: id)
            } catch {
                log.error("a key could not be removed", metadata: enrollment.logged(["reason": "\(error)"]))
            }
        }
    }
}

extension Enrollment {
    /// Whether it is over, and its key is there to be removed.
    fileprivate var awaitsKeyRemoval: Bool {
        guard case .ended(let authenticatorId, keyRemoved: false) = state else { return false }
        return authenticatorId != nil || credentialKey != nil
    }
}
