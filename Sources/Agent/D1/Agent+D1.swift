import Authenticator
import IssuerProtocol
import Journal
import Keys
import Logging
import Records
import Synchronization

/// Cache of the enrolled type: ``D1Authn/enrolledAuthnType()`` is synchronous and cannot wait for the store.
final class EnrolledType: Sendable {
    private struct State {
        var value: AuthnType?
        /// The number of reads that have begun, and the number of the read that set the value.
        var (begun, read) = (0, 0)
    }

    private let state = Mutex(State())

    var value: AuthnType? { state.withLock(\.value) }

    /// Stores the result of `read`, unless a read that began later has already stored one.
    ///
    /// So a value that was read before an enrollment ended never replaces the newer value.
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
    /// The open PIN enrollments at an issuer, also suspended and damaged ones.
    func enrollments(at issuer: IssuerURL) async throws -> [Enrollment] {
        try await enrollments { $0.target.issuer == issuer && $0.authnType == .pin }
    }

    /// The active, undamaged enrollment at an issuer, or `nil` if there is none.
    func active(at issuer: IssuerURL) async throws -> Enrollment? {
        try await enrollments(at: issuer).first { if case .active = $0.state { !$0.isDamaged } else { false } }
    }

    func update(_ enrolled: EnrolledType, at issuer: IssuerURL) async throws {
        try await enrolled.update { try await active(at: issuer) == nil ? nil : .platform }
    }

    /// Prepares the agent before its loops start, and loads the enrolled type.
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

    /// Runs the agent's loops until the task is cancelled.
    ///
    /// The agent does not poll: as on a phone, the app says when to fetch.
    func live(_ enrolled: EnrolledType, at issuer: IssuerURL, log: Logger) async {
        await withDiscardingTaskGroup { group in
            for loop in loops(isPolling: false) + [{ try await self.follow(enrolled, at: issuer) }] {
                group.addTask {
                    do {
                        try await loop()
                    } catch is CancellationError {
                        // Cancellation is the normal way to stop.
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
            switch event {
            case .found(.standings), .storeHealthChanged: true
            default: event.kind?.changesStanding == true
            }
        }
        var news = changes.makeAsyncIterator()
        repeat {
            // A store that fails now reports its recovery, which causes another read.
            do { try await update(enrolled, at: issuer) } catch is StoreError {}
        } while await news.next() != nil
    }
}
