import Control

/// Makes many enrollments, each once: those that the agent has already, by their names, are left as they are.
struct FleetEnrollment: Sendable {
    /// How many are made at a time; the agent takes 16 such calls of one process.
    private static let lanes = 8
    /// The seconds for which the agent repeats an enrollment that the issuer has not answered, and some.
    private static let patience = 660

    let client: ControlClient
    let output: Output
    let names: FleetNames
    let codes: CodeCommand
    let mix: PersonaMix?
    /// What all have in common; its issuer is empty if the links are to say it, and its code always is.
    let template: EnrollCommand

    /// What is there of the run's enrollments.
    private struct Found {
        var active: Set<Int> = []
        var enrolling: Set<Int> = []

        var all: Set<Int> { active.union(enrolling) }
    }

    /// Why a number was not enrolled.
    private struct Failure {
        let number: Int
        let error: ClientError
    }

    /// What a run came to.
    typealias Outcome = (view: FleetEnrolledView, status: ExitStatus)

    /// - Throws: `ClientError` of the enrollment that failed, or that the run was interrupted; then a message has said how
    ///   many are there.
    func run() async throws(ClientError) -> Outcome {
        if let mix {
            let known = try await client.personas().known.map(\.name)
            do throws(ControlError) { try mix.check(among: known) } catch { throw .refused(error) }
        }
        let before = try await found().all.count
        let progress = Progress(done: before, of: names.count, on: output)
        if before > 0 {
            output.message("\(before) of \(names.count) are there already; the run goes on with the rest.")
        }
        let result = await Interruptions().run { () async -> Result<Outcome, ClientError> in
            do throws(ClientError) {
                return .success(try await enrollAll(before, progress))
            } catch { return .failure(error) }
        }
        progress.end()
        switch result {
        case .success(let outcome)?: return outcome
        case .failure(let error)?:
            await tell()
            throw error
        case nil:
            await tell()
            throw .refused(ControlError(.failed, "Interrupted.", code: .cancelled))
        }
    }

    private func enrollAll(_ before: Int, _ progress: Progress) async throws(ClientError) -> Outcome {
        let end = ContinuousClock.now + .seconds(Self.patience)
        var taken: Set<Int> = []
        while true {
            let found = try await found()
            let missing = (1...names.count).filter { !found.all.contains($0) }
            if missing.isEmpty && (found.enrolling.isEmpty || .now >= end || Task.isCancelled) {
                let view = FleetEnrolledView(
                    count: names.count, before: before, made: max(0, found.all.count - before),
                    waiting: found.enrolling.count)
                return (view, found.enrolling.isEmpty ? .done : .queued)
            }
            if missing.isEmpty {
                // Their issuer has not answered: the agent goes on with these by itself.
                try? await Task.sleep(for: .seconds(1))
            } else if let failure = await enroll(missing, progress) {
                // What a run before this one asked for a moment ago the agent may have made meanwhile.
                guard try await self.found().all.contains(failure.number), taken.insert(failure.number).inserted else {
                    throw failure.error
                }
            }
        }
    }

    /// Enrolls these, a few at a time, until one fails or the task is cancelled.
    ///
    /// - Returns: the first failure; nil if there was none.
    private func enroll(_ numbers: [Int], _ progress: Progress) async -> Failure? {
        await withTaskGroup(of: Failure?.self) { group in
            var (rest, failure) = (numbers[...], nil as Failure?)
            for number in rest.prefix(Self.lanes) { group.addTask { await enroll(number) } }
            rest = rest.dropFirst(Self.lanes)
            while let result = await group.next() {
                if let result {
                    failure = failure ?? result
                } else {
                    progress.advance()
                }
                if failure == nil, !Task.isCancelled, let number = rest.popFirst() {
                    group.addTask { await enroll(number) }
                }
            }
            return failure
        }
    }

    private func enroll(_ number: Int) async -> Failure? {
        let name = names.name(of: number)
        do throws(ClientError) {
            var command = template
            (command.issuer, command.code) = try issuerAndCode(try await codes.line(for: name))
            command.name = name
            if let mix { command.persona = mix.persona(of: number) }
            _ = try await client.enroll(command)
            return nil
        } catch {
            return Failure(number: number, error: error.about(name))
        }
    }

    private func issuerAndCode(_ line: String) throws(ClientError) -> (String, String) {
        do throws(ControlError) {
            guard EnrollLink.isBegun(by: line) else {
                guard !template.issuer.isEmpty else {
                    throw ControlError(.invalidArgument, "--code-command printed a code, not a link: give --issuer.")
                }
                guard EnrollCommand.codeBytes.contains(line.utf8.count) else {
                    throw ControlError(.invalidArgument, "--code-command printed more than a code may have.")
                }
                return (template.issuer, line)
            }
            let link = try EnrollLink(line)
            guard try isExpected(link.issuer) else {
                throw ControlError(
                    .invalidArgument, "--code-command printed a link of \(link.issuer), and --issuer is another.")
            }
            return (link.issuer, link.code)
        } catch {
            throw .refused(error)
        }
    }

    private func isExpected(_ issuer: String) throws(ControlError) -> Bool {
        if template.issuer.isEmpty { return true }
        return try ShownIssuer(issuer).origin == ShownIssuer(template.issuer).origin
    }

    /// Those that the agent has.
    ///
    /// - Throws: if one of them is something else than what is asked for.
    private func found() async throws(ClientError) -> Found {
        var found = Found()
        for enrollment in try await client.enrollments() {
            guard let number = names.number(of: enrollment.name) else { continue }
            try check(enrollment)
            if enrollment.state == .enrolling { found.enrolling.insert(number) } else { found.active.insert(number) }
        }
        return found
    }

    private func check(_ enrollment: EnrollmentView) throws(ClientError) {
        let advice = "choose another --name, or unenroll it first"
        do throws(ControlError) {
            guard try isExpected(enrollment.issuer) else {
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

    private func tell() async {
        guard let found = try? await found() else { return }
        output.message("\(found.all.count) of \(names.count) are there; the same command again goes on with the rest.")
    }
}

extension ClientError {
    /// The same, with the name of the enrollment before it.
    fileprivate func about(_ name: String) -> ClientError {
        switch self {
        case .unreachable(let message): .unreachable("\(name): \(message)")
        case .unclear(let message): .unclear("\(name): \(message)")
        case .unknown(let message): .unknown("\(name): \(message)")
        case .refused(let error):
            .refused(ControlError(error.token, "\(name): \(error.message)", code: error.code, request: error.request))
        }
    }
}
