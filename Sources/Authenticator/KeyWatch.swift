import IssuerProtocol
import Keys
import Logging

/// Looks at keys in the background: what cannot be used is known before it is needed.
///
/// No PIN is asked for. A key with a PIN of the agent's own is looked at as far as that goes; one of a token or a TPM is
/// not, where it could cost a try.
package struct KeyWatch: Sendable {
    let ports: Ports
    let health: KeyHealth
    let hub: EventHub
    let log: Logger
    /// However many keys fail, they cannot fill the log.
    let quota: LogQuota

    /// The seconds between two looks at all keys.
    static let pause: Double = 86_400
    /// The seconds between two looks at those that cannot be used.
    static let pauseAfterFailure: Double = 60

    /// Works until the task is cancelled: at once, once a day, and after a failure until the key is well again.
    ///
    /// - Parameter onLooked: called each time that all were looked at.
    package func run(onLooked: @Sendable () -> Void) async throws {
        var names = try await all()
        var failed: Set<EnrollmentID> = []
        while !Task.isCancelled {
            for name in names {
                try await look(at: name)
                say(name, &failed)
                await Task.yield()
            }
            onLooked()
            let bell = hub.bell { if case .keyFailed = $0 { true } else { false } }
            let pause = health.failing.isEmpty ? Self.pause : Self.pauseAfterFailure
            try await ports.clock.sleep(seconds: pause, orUntil: bell)
            let failing = health.failing
            names = failing.isEmpty ? try await all() : failing
        }
    }

    private func all() async throws -> [EnrollmentID] {
        try await ports.patiently {
            try await ports.book.read { try $0.enrollments(includingEnded: false) }.map(\.id)
        }
    }

    private func look(at name: EnrollmentID) async throws {
        try await ports.patiently {
            guard let enrollment = try await ports.book.read({ try $0.enrollment(name) }),
                enrollment.membership != nil
            else { return health.forget(name) }
            do {
                try await look(at: enrollment)
            } catch is KeyFailure {
                // It has been noted.
            } catch let error where !(error is BookTrouble || error is CancellationError) {
                log.debug("a key could not be looked at", metadata: enrollment.logged(["reason": "\(error)"]))
            }
        }
    }

    private func look(at enrollment: Enrollment) async throws {
        let last = health.test(of: enrollment.id)
        switch (enrollment.key, enrollment.authnType) {
        case (.outside, .pin): return
        case (.own, .pin):
            // What went wrong with a signature only a signature can put right.
            if last?.problem != nil, last?.extent == .signature { return }
            try await ports.custody.check(enrollment.id)
        case (.own, _) where enrollment.credentialKey != nil && last?.problem == nil:
            try await ports.custody.check(enrollment.id)
        default:
            let key = try await ports.custody.unlock(enrollment.id, at: enrollment.key, pin: nil)
            if enrollment.credentialKey == nil { try await record(key.publicKey, of: enrollment.id) }
        }
    }

    /// For an enrollment from before the public half was kept: the file that has the key is only opened under this
    /// enrollment's label.
    private func record(_ publicKey: PublicKey, of name: EnrollmentID) async throws {
        try await ports.book.write { book in
            guard var enrollment = try book.enrollment(name), enrollment.credentialKey == nil else { return }
            enrollment.credentialKey = publicKey
            try book.update(enrollment)
        }
    }

    private func say(_ name: EnrollmentID, _ failed: inout Set<EnrollmentID>) {
        guard let problem = health.test(of: name)?.problem else {
            if failed.remove(name) != nil {
                log.notice("a key can be used again", metadata: ["enrollment": "\(name)"])
            }
            return
        }
        guard failed.insert(name).inserted, let leftOut = quota.admit("keys", now: ports.clock.now) else { return }
        var metadata: Logger.Metadata = ["enrollment": "\(name)", "reason": "\(problem)"]
        if leftOut > 0 { metadata["left-out"] = "\(leftOut)" }
        log.error("a key cannot be used", metadata: metadata)
    }
}
