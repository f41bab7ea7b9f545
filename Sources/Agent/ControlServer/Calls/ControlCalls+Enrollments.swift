import Authenticator
import Control
import IssuerProtocol
import Journal
import Keys
import Records
import TextAndTime

extension ControlCalls {
    /// The limit for the issuer's answer to an enroll, in seconds.
    ///
    /// The enrollment goes on if the client leaves.
    private static let patience: Double = 60

    func enrollments(_ query: EnrollmentQuery) async throws -> Answer {
        // Load one row more than the answer has, to see whether there is a next page.
        let found = try await agent.enrollments(after: query.after, limit: query.limit + 1)
        let answered = found.prefix(query.limit)
        var answer = try Answer.json(answered.map { EnrollmentView($0, of: agent) })
        if found.count > query.limit, let last = answered.last {
            answer.next = "\(ControlRoute.enrollments.path)?limit=\(query.limit)&after=\(last.id)"
        }
        return answer
    }

    func enroll(_ command: EnrollCommand, by peer: ControlPeer) async throws -> Answer {
        var parameters = try EnrollmentParameters(command)
        try agent.expectAllowed(parameters)
        if let persona = command.persona {
            // Stored with the enrollment in one write: even after a crash, no enrollment is without its persona.
            parameters.persona = try cardholderControl().document(
                of: PersonaOrder(persona), for: parameters.authnType)
            guard parameters.keyURI == nil else {
                throw ControlError(
                    .invalidArgument, "persona: goes with a key that the agent makes, and keyUri names another")
            }
        }
        let enrollment = try await quota.counting(.enroll, by: peer.uid) {
            try await agent.recordCommand(.enroll, by: peer)
            return try await agent.enroll(parameters, patience: Self.patience)
        }
        return try .json(EnrollmentView(enrollment, of: agent), status: 201)
    }

    func unenroll(_ name: String, _ command: UnenrollCommand, by peer: ControlPeer) async throws -> Answer {
        let enrollment = try await agent.enrollment(named: name, includingEnded: true)
        let (isLocal, isErasing) = (command.local ?? false, command.erase ?? false)
        let end: () async throws -> Unenrollment = {
            try await agent.unenroll(
                enrollment.id, locally: isLocal, forced: command.force ?? false, erasing: isErasing)
        }
        let noteAndEnd: () async throws -> Unenrollment = {
            try await agent.recordCommand(.unenroll, by: peer, about: enrollment.id)
            return try await end()
        }
        let ended: Unenrollment
        if try await agent.isDone(with: enrollment, erasing: isErasing) {
            ended = try await end()
        } else if isLocal {
            // A stolen key can be ended at any time. This needs no issuer, so it cannot be repeated without effect.
            ended = try await noteAndEnd()
        } else {
            ended = try await quota.counting(.unenroll, by: peer.uid, noteAndEnd)
        }
        return try .json(
            UnenrolledView(
                id: enrollment.id.text, wasEnrolled: ended.wasEnrolled, erased: ended.isErased,
                keptKeyUri: enrollment.key.external?.uri.text))
    }

    func fetch(_ command: FetchCommand, for caller: Caller) async throws -> Answer {
        let enrollment = try await id(of: command.enrollment)
        let fetched =
            if let enrollment {
                try await agent.fetch(enrollment)
            } else {
                try await fetchesOfAll.withPlace(for: caller) { try await agent.fetch(nil) }
            }
        let failures = fetched.map { failure in
            FetchFailureView(
                issuer: failure.enrollment.target.issuer.text,
                message: failure.count > 1 ? "\(failure.reason) (\(failure.count) enrollments)" : failure.reason)
        }
        return try .json(FetchView(pending: try await agent.counts().pending, failures: failures))
    }
}

extension EnrollmentParameters {
    private static let beginningOfRoots = "-----BEGIN CERTIFICATE-----"

    init(_ command: EnrollCommand) throws(ControlError) {
        let issuer: IssuerURL
        do throws(ProtocolError) {
            issuer = try IssuerURL(written: command.issuer)
        } catch {
            throw ControlError(.invalidArgument, "issuer: \(error)")
        }
        let text = command.authnType ?? AuthnType.presence.rawValue
        guard let authnType = AuthnType(rawValue: text) else {
            let allowed = AuthnType.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError(.invalidArgument, "authnType: must be one of \(allowed)")
        }
        guard let code = EnrollmentCode(typed: command.code) else {
            throw ControlError(.invalidArgument, "code: must have 1 to 256 bytes")
        }
        if let roots = command.caFile, !roots.contains(Self.beginningOfRoots) {
            throw ControlError(.invalidArgument, "caFile: must be PEM, from \(Self.beginningOfRoots)")
        }
        self.init(
            target: IssuerTarget(issuer: issuer, rootsPEM: command.caFile), code: code, authnType: authnType,
            name: command.name ?? issuer.host, isNameChosen: command.name != nil,
            keyURI: try command.keyUri.map(Self.keyURI),
            pin: try command.pin.map { text throws(ControlError) in try PIN(text, as: "pin") },
            takesPush: command.push ?? true)
    }

    private static func keyURI(_ text: String) throws(ControlError) -> KeyURI {
        do throws(KeyURIError) {
            return try KeyURI(text)
        } catch {
            throw ControlError(.invalidArgument, "keyUri: \(error)")
        }
    }
}

extension ControlCalls {
    func changePIN(_ name: String, _ command: PINChangeCommand, by peer: ControlPeer) async throws -> Answer {
        let old = try PIN(command.pin, as: "pin")
        let new = try PIN(command.newPin, as: "newPin")
        let enrollment = try await agent.enrollment(named: name)
        try await agent.checkPINChange(of: enrollment.id)
        try await quota.counting(.changePIN, by: peer.uid) {
            try await agent.recordCommand(.changePIN, by: peer, about: enrollment.id)
            try await agent.changePIN(of: enrollment.id, from: old, to: new)
        }
        let changed = try await agent.enrollment(enrollment.id) ?? enrollment
        return try .json(EnrollmentView(changed, of: agent))
    }
}

extension PIN {
    /// Parses a PIN, in Unicode's normalization form C; the error names the member and never the PIN.
    init(_ text: PINText, as member: String) throws(ControlError) {
        var bytes = Array(TypedText.composed(text.revealed).utf8)
        do throws(PINError) {
            try self.init(Secret(wiping: &bytes))
        } catch {
            throw ControlError(.invalidArgument, "\(member): \(error)")
        }
    }
}

extension ControlCalls {
    func rotatePush(_ command: PushRotateCommand, by peer: ControlPeer, isFavoured: Bool) async throws -> Answer {
        let enrollment = try await id(of: command.enrollment)
        let open = try await quota.counting(.rotatePush, by: peer.uid, countsAlways: true) {
            try await rotations.rotate(ofAll: enrollment == nil, isFavoured: isFavoured) { begin, commit in
                try await agent.rotatePush(enrollment, choosing: begin) { count in
                    // Root and the agent's user may rotate all at any time, such as after a leak.
                    if !isFavoured { try quota.count(.rotatePush, by: peer.uid, cost: count, counted: 1) }
                    try await agent.recordCommand(.rotatePush, by: peer, about: enrollment)
                    commit()
                }
            }
        }
        return try .json(PushRotatedView(open: open.map(\.text)))
    }
}

extension PushView {
    init(_ facts: PushFacts) {
        self.init(
            works: facts.works, lastPush: facts.lastPush.map(UTCTime.text), lastPoll: facts.lastPoll.map(UTCTime.text),
            firstByPush: facts.firstByPush, firstByPoll: facts.firstByPoll, duplicates: facts.duplicates,
            refused: facts.refused, latency: facts.latency.map { Int($0) })
    }
}
