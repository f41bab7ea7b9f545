extension Agent {
    /// Makes a new push subscription for one enrollment, or for all, and has its issuer use that.
    ///
    /// - Parameter note: called once it is known that there is something to rotate, before anything is changed.
    /// - Returns: those whose issuer has not answered yet; the agent goes on trying.
    package func rotatePush(
        _ id: EnrollmentID?, noting note: () async throws -> Void = {}
    ) async throws -> [EnrollmentID] {
        guard settings.push != nil else {
            throw CommandError(.invalidArgument, "this agent takes no pushes: set push-listen and push-url")
        }
        let chosen = try await enrollments().filter { (id == nil || $0.id == id) && $0.membership != nil }
        return try await pushSubscriber.rotate(chosen, noting: note)
    }

    /// Has the issuer of an enrollment push to the address as it is now; false if its answer is still awaited.
    package func resettlePush(of id: EnrollmentID) async throws -> Bool { try await pushSubscriber.resettle(id) }

    /// How messages came to an enrollment since start; nil if it is not pushed to.
    package func pushFacts(of enrollment: Enrollment) -> PushFacts? {
        settings.push != nil && enrollment.takesPush ? tally.facts(of: enrollment.id) ?? PushFacts() : nil
    }
}
