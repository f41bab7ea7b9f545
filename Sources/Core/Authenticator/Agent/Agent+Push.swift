package import Records

extension Agent {
    /// Makes a new push subscription for one enrollment, or for all, and has its issuer use that.
    ///
    /// - Parameters:
    ///   - choose: called with those it is about, before any issuer is asked; the others stay as they are.
    ///   - note: called with how many there are once it is known that there is something to rotate, before anything is
    ///     changed.
    /// - Returns: those whose issuer has not answered yet; the agent goes on trying.
    package func rotatePush(
        _ id: EnrollmentID?, choosing choose: ([EnrollmentID]) throws -> Set<EnrollmentID> = { Set($0) },
        noting note: (Int) async throws -> Void = { _ in }
    ) async throws -> [EnrollmentID] {
        guard settings.push != nil else {
            throw CommandError(.invalidArgument, "this agent takes no pushes: set push-listen and push-url")
        }
        let candidates = try await enrollments { (id == nil || $0.id == id) && $0.membership != nil }
        let chosen = try choose(candidates.filter(\.takesPush).map(\.id))
        return try await pushSubscriber.rotate(candidates.filter { chosen.contains($0.id) }, noting: note)
    }

    /// Has the issuer of an enrollment push to the address as it is now; false if its answer is still awaited.
    package func resettlePush(of id: EnrollmentID) async throws -> Bool { try await pushSubscriber.resettle(id) }

    /// How messages came to an enrollment since start; nil if it is not pushed to.
    package func pushFacts(of enrollment: Enrollment) -> PushFacts? {
        settings.push != nil && enrollment.takesPush ? tally.facts(of: enrollment.id) ?? PushFacts() : nil
    }
}
