import Authenticator
import IssuerProtocol
import Journal
import Keys
import Logging
import Records
import Synchronization

/// What is enrolled, for whoever cannot wait for the store.
final class EnrolledType: Sendable {
    private let kept = Mutex<AuthnType?>(nil)

    var value: AuthnType? {
        get { kept.withLock(\.self) }
        set { kept.withLock { $0 = newValue } }
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

    func enrolledType(at issuer: IssuerURL) async throws -> AuthnType? {
        try await active(at: issuer) == nil ? nil : .platform
    }

    /// What is done before anything runs.
    func preparation(of enrolled: EnrolledType, at issuer: IssuerURL) async -> Result<Void, D1Error> {
        do {
            try await prepare()
            enrolled.value = try await enrolledType(at: issuer)
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
        enrolled.value = try await enrolledType(at: issuer)
        for await _ in changes { enrolled.value = try await enrolledType(at: issuer) }
    }
}
