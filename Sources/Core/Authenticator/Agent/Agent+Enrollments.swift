import IssuerProtocol
import Journal
package import Keys
package import Records
import StoreTables
import TextAndTime

extension Agent {
    /// Returns the wanted enrollments that have not ended, oldest first.
    ///
    /// With `ended`, ended enrollments are included. The store is read a page at a time. Others may write between two
    /// pages.
    package func enrollments(
        includingEnded ended: Bool = false, where isWanted: (Enrollment) -> Bool = { _ in true }
    ) async throws -> [Enrollment] {
        var (found, place): ([Enrollment], Int64?) = ([], nil)
        while true {
            let after = place
            let page = try await ports.store.survey {
                try $0.enrollmentPage(after: after, limit: EnrollmentPages.size, includingEnded: ended)
            }
            guard let page else { return found }
            found += page.enrollments.filter(isWanted)
            place = page.place
        }
    }

    /// Returns the enrollments after `id` that have not ended, oldest first, at most `limit`.
    ///
    /// If `id` is `nil`, they begin with the oldest enrollment.
    ///
    /// - Throws: `CommandError` if the enrollment `id` does not exist.
    package func enrollments(after id: EnrollmentID?, limit: Int) async throws -> [Enrollment] {
        try await ports.store.read { store in
            if let id, try store.enrollment(id) == nil {
                throw CommandError(.notFound, "there is no enrollment \(id)")
            }
            return try store.enrollments(after: id, limit: limit)
        }
    }

    /// Returns the enrollments of the requests, including ended enrollments.
    package func enrollments(of requests: [RequestRecord]) async throws -> [EnrollmentID: Enrollment] {
        let ids = Set(requests.map(\.enrollmentId))
        guard !ids.isEmpty else { return [:] }
        let found = try await ports.store.read { store in try ids.compactMap { try store.enrollment($0) } }
        return Dictionary(found.map { ($0.id, $0) }) { first, _ in first }
    }

    /// Finds an enrollment by its id, its name, or the beginning of its id.
    ///
    /// - Throws: `CommandError` `.notFound` or `.ambiguous`.
    package func enrollment(named name: String, includingEnded: Bool = false) async throws -> Enrollment {
        let found = try await ports.store.read {
            try $0.enrollments(meantBy: name, includingEnded: includingEnded, limit: 5)
        }
        guard let first = found.first else {
            throw CommandError(.notFound, "there is no enrollment \(DisplayText(name).text)")
        }
        guard found.count == 1 else {
            throw CommandError(
                .ambiguous,
                "\(DisplayText(name).text) matches several enrollments; give the ID of one: "
                    + found.map(\.id.text).joined(separator: ", "))
        }
        return first
    }

    /// Enrolls, and waits up to `patience` seconds for the issuer's answer.
    ///
    /// - Returns: the enrollment, which is active, or still enrolling if the issuer has not answered in time.
    package func enroll(_ parameters: EnrollmentParameters, patience: Double) async throws -> Enrollment {
        let id = try await enroller.begin(parameters)
        let isAboutThis: @Sendable (AgentEvent) -> Bool = { event in
            switch event {
            case .journaled(.enrolled, of: id, _), .journaled(.enrollmentGivenUp, of: id, _),
                .journaled(.unenrolled, of: id, _):
                true
            default: false
            }
        }
        let concluded = try await hub.wait(seconds: patience, on: ports.patience, for: isAboutThis) {
            let enrollment = try await self.enrollment(id)
            if case .enrolling = enrollment?.state { return nil as Enrollment? }
            return enrollment
        }
        guard let current = try await concluded == nil ? enrollment(id) : concluded else {
            throw CommandError(.failed, "the enrollment \(id) no longer exists")
        }
        if case .ended = current.state { throw CommandError(ended: current) }
        return current
    }

    /// Changes the PIN of an enrollment.
    ///
    /// - Throws: `CommandError` if the PIN was not changed. A wrong old PIN counts as a wrong PIN at an approval does.
    package func changePIN(of id: EnrollmentID, from old: PIN, to new: PIN) async throws {
        try await pinChange.changePIN(id, from: old, to: new)
    }

    /// Checks the parameters of a new enrollment as far as that is possible without asking the issuer.
    ///
    /// - Throws: `CommandError` if they cannot be used.
    package func expectAllowed(_ parameters: EnrollmentParameters) throws { try enroller.expectAllowed(parameters) }

    /// Checks that the PIN of an enrollment can be changed now, without counting a try.
    ///
    /// - Throws: `CommandError` if it cannot.
    package func checkPINChange(of id: EnrollmentID) async throws { try await pinChange.changeable(id) }

    /// Returns whether an enrollment has ended and, if `erasing` is set, has been erased.
    package func isDone(with enrollment: Enrollment, erasing: Bool) async throws -> Bool {
        guard enrollment.isOver, erasing else { return enrollment.isOver }
        return try await ports.store.read { try $0.isErased(enrollment.id) }
    }

    /// Returns the time at which a blocked enrollment accepts a PIN again, in seconds since 1970.
    ///
    /// `nil` if it accepts a PIN now, or has none.
    package func blockedUntil(_ enrollment: Enrollment) -> Int64? {
        enrollment.pinTries.isBlocked(at: ports.clock.now) ? enrollment.pinTries.blockedUntil : nil
    }

    package func unenroll(
        _ id: EnrollmentID, locally: Bool, forced: Bool, erasing: Bool = false
    ) async throws -> Unenrollment {
        try await unenroller.unenroll(id, locally: locally, forced: forced, erasing: erasing)
    }
}
