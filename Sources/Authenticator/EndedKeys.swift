import Logging

/// Removes the keys of enrollments that are over, those of their push subscriptions as well, also where a crash came
/// between the row and the key.
struct EndedKeys: Sendable {
    let ports: Ports

    func remove(of id: EnrollmentID) async throws {
        guard let enrollment = try await ports.book.read({ try $0.enrollment(id) }),
            case .ended(let authenticatorId, false) = enrollment.state
        else { return }
        try await ports.custody.removeKey(named: id)
        var clean = enrollment
        clean.state = .ended(authenticatorId: authenticatorId, keyRemoved: true)
        let (changed, now) = (clean, ports.clock.now)
        try await ports.book.write { book in
            try book.update(changed)
            try book.removeSubscriptions(of: id, at: now)
        }
    }

    /// At start: enrollments that never got their key to the issuer end, and no ended one keeps a key.
    ///
    /// A key that cannot be removed is said so, and tried again at the next start.
    func sweep(_ log: Logger) async throws {
        for var enrollment in try await ports.book.read({ try $0.enrollments(includingEnded: true) }) {
            if case .keyless = enrollment.state {
                enrollment.end(at: ports.clock.now)
                let changed = enrollment
                try await ports.book.write { try $0.update(changed) }
            }
            guard case .ended(_, false) = enrollment.state else { continue }
            do {
                try await remove(of: enrollment.id)
            } catch {
                log.error("a key could not be removed", metadata: enrollment.logged(["reason": "\(error)"]))
            }
        }
    }
}
