import Authenticator
import IssuerProtocol
import Journal
import Keys
import Logging
import Records
import Synchronization

/// Type of what is enrolled, as the store last said: a caller of ``D1Authn/enrolledAuthnType()`` cannot wait for it.
final class EnrolledType: Sendable {
    private struct State {
        var value: AuthnType?
        /// Reads that have begun, and the number of the one that the value is from.
        var (begun, read) = (0, 0)
    }

    private let state = Mutex(State())

    var value: AuthnType? { state.withLock(\.value) }

    /// Takes what `read` finds, unless a read that began later was there first.
    ///
    /// So nothing that was read before an enrollment ended is shown after it.
    func update(_ read: () async throws -> AuthnType?) async throws {
        let number = state.withLock { state in
            state.begun += 1
            return state.begun
        }
        let found = try await read()
        state.withLock { if number > $0.read { ($0.read, $0.value) = (number, found) } }
    }
}

extension Agent {
    /// The enrollments at an issuer that approvals with a PIN can be made with, or could.
    func enrollments(at issuer: IssuerURL) async throws -> [Enrollment] {
        try await enrollments { $0.target.issuer == issuer && $0.authnType == .pin }
    }

    /// The one that is active; nil if none is.
    func active(at issuer: IssuerURL) async throws -> Enrollment? {
        try await enrollments(at: issuer).first { if case .active = $0.state { !$0.isDamaged } else { false } }
    }

    func update(_ enrolled: EnrolledType, at issuer: IssuerURL) async throws {
        try await enrolled.update { try await active(at: issuer) == nil ? nil : .platform }
    }

    /// What is done before anything runs.
    func preparation(of enrolled: EnrolledType, at issuer: IssuerURL) async -> Result<Void, D1Error> {
        do {
            try await prepare()
            try await update(enrolled, at: issuer)
            return .success(())
        } catch is SealError {
            return .failure(D1Error(.core, "wrongSecret", "the secret is not the one that this state was made with"))
        } catch {
            return .failure(D1Error(error))
        }
    }

    /// Works until the task is cancelled.
    ///
    /// Nothing is polled: as on a phone, the app says when to fetch.
    func live(_ enrolled: EnrolledType, at issuer: IssuerURL, log: Logger) async {
        await withDiscardingTaskGroup { group in
            for loop in loops(isPolling: false) + [{ try await self.follow(enrolled, at: issuer) }] {
                group.addTask {
                    do {
                        try await loop()
                    } catch is CancellationError {
                        // That is how it stops.
                    } catch {
                        log.error("a part of the core ended", metadata: ["reason": "\(error)"])
                    }
                }
            }
        }
        do {
            try await conclude()
        } catch {
            log.error("the end could not be recorded in the journal", metadata: ["reason": "\(error)"])
        }
    }

    @Sendable private func follow(_ enrolled: EnrolledType, at issuer: IssuerURL) async throws {
        let changes = hub.notifier { event in
            if case .found(.standings) = event { true } else { event.kind?.changesStanding == true }
        }
        try await update(enrolled, at: issuer)
        for await _ in changes { try await update(enrolled, at: issuer) }
    }
}
