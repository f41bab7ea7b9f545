import Control

/// Makes many enrollments in sequence, and skips the names that the agent has already.
struct FleetEnrollment: Sendable {
    /// The seconds for which the agent retries an unanswered enrollment, with a margin.
    private static let patience = 660

    let client: ControlClient
    let output: Output
    let names: FleetNames
    /// A code for each name, in the order of the numbers.
    let codes: [String]
    /// The file of the codes, as named in errors.
    let list: String
    /// The command without name and code.
    let template: EnrollCommand

    /// The numbers of the run's enrollments that the agent has.
    private struct Found {
        var active: Set<Int> = []
        var enrolling: Set<Int> = []

        var all: Set<Int> { active.union(enrolling) }
    }

    typealias Outcome = (view: FleetEnrolledView, status: ExitStatus)

    /// Runs the enrollments.
    ///
    /// If it fails, a message gives the number of enrollments that exist.
    ///
    /// - Throws: `ClientError` of the enrollment that failed, or of the interruption.
    func enroll() async throws(ClientError) -> Outcome {
        let before = try await found().all
        if !before.isEmpty {
            output.message("\(before.count) of \(names.count) are there already; the run goes on with the rest.")
        }
        let result = await Interruptions().untilInterrupted { () async -> Result<Outcome, ClientError> in
            do throws(ClientError) {
                return .success(try await enrollAll(but: before))
            } catch { return .failure(error) }
        }
        switch result {
        case .success(let outcome)?: return outcome
        case .failure(let error)?:
            await reportProgress()
            throw error
        case nil:
            await reportProgress()
            throw .refused(ControlError(.failed, "Interrupted.", code: .cancelled))
        }
    }

    private func enrollAll(but before: Set<Int>) async throws(ClientError) -> Outcome {
        for number in 1...names.count where !before.contains(number) && !Task.isCancelled {
            try await enroll(number)
            if number * 10 / names.count > (number - 1) * 10 / names.count {
                output.message("\(number) of \(names.count) are enrolled.")
            }
        }
        // The agent itself retries the enrollments that the issuer has not answered.
        let end = ContinuousClock.now + .seconds(Self.patience)
        var found = try await found()
        while !found.enrolling.isEmpty, .now < end, !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            found = try await self.found()
        }
        let view = FleetEnrolledView(
            count: names.count, before: before.count, made: max(0, found.all.count - before.count),
            waiting: found.enrolling.count)
        return (view, found.enrolling.isEmpty ? .done : .queued)
    }

    private func enroll(_ number: Int) async throws(ClientError) {
        var command = template
        (command.name, command.code) = (names.name(of: number), codes[number - 1])
        do throws(ClientError) {
            _ = try await client.enroll(command)
        } catch {
            // An interrupted run may have made it: the agent goes on without its client.
            guard try await found().all.contains(number) else {
                throw error.about("\(names.name(of: number)) (line \(number) of \(list))")
            }
        }
    }

    /// Finds the enrollments with the names of this run.
    ///
    /// - Throws: if an enrollment with such a name has another issuer or authnType.
    private func found() async throws(ClientError) -> Found {
        var found = Found()
        for enrollment in try await client.enrollments() {
            guard let number = names.number(of: enrollment.name) else { continue }
            try expectSame(enrollment)
            if enrollment.state == .enrolling { found.enrolling.insert(number) } else { found.active.insert(number) }
        }
        return found
    }

    private func expectSame(_ enrollment: EnrollmentView) throws(ClientError) {
        let advice = "choose another --name, or unenroll it first"
        do throws(ControlError) {
            guard try ShownIssuer(enrollment.issuer).origin == ShownIssuer(template.issuer).origin else {
                throw ControlError(
                    .invalidArgument,
                    "\(enrollment.name) is an enrollment at another issuer, \(enrollment.issuer): \(advice).")
            }
            guard template.authnType == nil || enrollment.authnType == template.authnType else {
                throw ControlError(
                    .invalidArgument,
                    "\(enrollment.name) is an enrollment of authnType \(enrollment.authnType): \(advice).")
            }
        } catch {
            throw .refused(error)
        }
    }

    private func reportProgress() async {
        guard let found = try? await found() else { return }
        output.message("\(found.all.count) of \(names.count) are there; the same command again goes on with the rest.")
    }
}

extension ClientError {
    /// The same error, with the name of the enrollment in front.
    fileprivate func about(_ name: String) -> ClientError {
        switch self {
        case .unreachable(let message): .unreachable("\(name): \(message)")
        case .unclear(let message): .unclear("\(name): \(message)")
        case .cutOff(let message): .cutOff("\(name): \(message)")
        case .unknown(let message): .unknown("\(name): \(message)")
        case .refused(let error):
            .refused(ControlError(error.token, "\(name): \(error.message)", code: error.code, request: error.request))
        }
    }
}
