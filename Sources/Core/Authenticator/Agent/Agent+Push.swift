package import Records

extension Agent {
    /// Makes a new push subscription for one enrollment, or for all, and sends it to the issuer.
    ///
    /// - Parameters:
    ///   - choose: gets the enrollments that take pushes, before any issuer is asked, and returns those to rotate. An
    ///     enrollment that it leaves out keeps its subscription.
    ///   - note: called with the number of new subscriptions, before anything is changed. Not called if there are none.
    /// - Returns: the enrollments whose issuer has not answered within 30 s. The agent goes on trying.
    /// - Throws: `CommandError` if no subscription can be made, or if an issuer cannot be reached. Then no subscription
    ///   changes.
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

    /// Makes the issuer of an enrollment push to the agent's current address.
    ///
    /// - Returns: `false` if the update did not finish within 30 s. The agent goes on trying.
    package func resettlePush(of id: EnrollmentID) async throws -> Bool { try await pushSubscriber.resettle(id) }

    /// Returns the counts and times of an enrollment's messages by channel, since the start.
    ///
    /// `nil` if the agent or the enrollment takes no pushes.
    package func pushFacts(of enrollment: Enrollment) -> PushFacts? {
        settings.push != nil && enrollment.takesPush ? tally.facts(of: enrollment.id) ?? PushFacts() : nil
    }
}
