package import IssuerProtocol
import Keys
package import Records
package import StrictJSON
import TextAndTime

// MARK: The agent

extension JournalFact {
    /// The start of the journal, under this key.
    ///
    /// - Parameter host: the host of the chain, or `nil` if the store has one chain.
    static func auditKeyMade(_ key: PublicKey, of host: String? = nil) -> JournalFact {
        let facts: JSONObject = ["publicKey": .string(Base64URL.encode(key.subjectPublicKeyInfo))]
        return JournalFact(.auditKeyMade, facts.adding("host", host))
    }

    package static func started(version: String) -> JournalFact { JournalFact(.started, ["version": .string(version)]) }

    package static let stopped = JournalFact(.stopped)

    /// A change of the secret, with the numbers of keys and access tokens that were sealed anew.
    package static func secretChanged(keys: Int, tokens: Int) -> JournalFact {
        JournalFact(.secretChanged, ["keys": .integer(Int64(keys)), "tokens": .integer(Int64(tokens))])
    }
}

extension JournalFact {
    /// An advance of the agent's clock by a test; later entries have the new time.
    ///
    /// - Parameter offset: the seconds by which the clock is then ahead of the machine's.
    package static func clockAdvanced(by seconds: Int64, to offset: Int64, by peer: ControlPeer) -> JournalFact {
        let facts: JSONObject = ["seconds": .integer(seconds), "offset": .integer(offset)]
        return JournalFact(.clockAdvanced, JSONObject(facts.members + peer.journaled.members))
    }
}

// MARK: Commands

/// A command of a client of the control socket; a decision has its own entry, with its approver.
package enum JournaledCommand: String, Sendable, CaseIterable {
    case enroll, unenroll, changePIN, exportKey, exportPublicKey, rotatePush, backup, setPersona, clearPersona,
        reloadRules
}

extension JournalFact {
    /// - Parameter id: the enrollment of the command, or `nil` for a new enrollment or for all.
    package static func commanded(
        _ command: JournaledCommand, by peer: ControlPeer, about id: EnrollmentID?
    ) -> JournalFact {
        let facts = JSONObject([.init(name: "command", value: .string(command.rawValue))] + peer.journaled.members)
        return JournalFact(.commanded, facts.adding("enrollment", id?.text))
    }
}

// MARK: Enrollments

extension JournalFact {
    /// - Throws: the digest's errors.
    package static func enrolled(_ enrollment: Enrollment, as authenticatorId: TokenID) throws -> JournalFact {
        JournalFact(.enrolled, try enrolledMembers(of: enrollment).adding("authenticator", authenticatorId.text))
    }

    /// Returns the members that an `enrolled` entry and the enrollment's row have in common.
    static func enrolledMembers(of enrollment: Enrollment) throws -> JSONObject {
        [
            "enrollment": .string(enrollment.id.text),
            "credential": .string(Base64URL.encode(enrollment.credentialId)),
            "authnType": .string(enrollment.authnType.rawValue), "algorithm": .integer(Int64(enrollment.algorithm)),
            "issuer": .string(try digest(enrollment.target.issuer.text)), "rp": .string(try digest(enrollment.rpId)),
        ]
    }

    /// Returns the digest of an address, because the address itself must not be in the journal.
    static func digest(_ text: String) throws -> String { Base64URL.encode(try SHA256Digest.of(Array(text.utf8))) }

    package static func enrollmentGivenUp(_ id: EnrollmentID) -> JournalFact { about(id, .enrollmentGivenUp) }

    package static func suspended(_ id: EnrollmentID) -> JournalFact { about(id, .suspended) }

    package static func resumed(_ id: EnrollmentID) -> JournalFact { about(id, .resumed) }

    package static func unenrolled(_ id: EnrollmentID) -> JournalFact { about(id, .unenrolled) }

    /// The erasure of personal data; no file of the store has it any more.
    package static func erased(_ id: EnrollmentID) -> JournalFact { about(id, .erased) }

    package static func signCountRaised(_ id: EnrollmentID, _ raise: SignCountRaise) -> JournalFact {
        about(id, .signCountRaised, with: ["from": .integer(Int64(raise.from)), "to": .integer(Int64(raise.to))])
    }

    /// A try with a wrong PIN.
    static func notVerified(_ subject: PINTries.Subject, _ tries: PINTries) -> JournalFact {
        JournalFact(.notVerified, subject.journaled.adding(tries))
    }

    /// A right PIN that led to no decision, or whose key had wrong tries before.
    package static func verified(_ subject: PINTries.Subject) -> JournalFact {
        JournalFact(.verified, subject.journaled)
    }

    /// The replacement of a key's wrong-PIN count that the agent did not write; no PIN was tried.
    ///
    /// The new count blocks the key for a day.
    package static func pinTriesPutBack(_ subject: PINTries.Subject, _ tries: PINTries) -> JournalFact {
        JournalFact(.pinTriesPutBack, subject.journaled.adding(tries))
    }

    /// A block, during which no try is accepted.
    package static func blocked(_ subject: PINTries.Subject, _ tries: PINTries) -> JournalFact {
        JournalFact(.blocked, subject.journaled.adding(tries).adding("until", tries.blockedUntil.map(UTCTime.text)))
    }

    /// - Parameter enrollment: the enrollment as written. An older row has a lower version.
    package static func pinChanged(_ enrollment: Enrollment) -> JournalFact {
        about(enrollment.id, .pinChanged, with: ["rowVersion": .integer(enrollment.version)])
    }

    package static func about(_ id: EnrollmentID, _ kind: Kind, with more: JSONObject = [:]) -> JournalFact {
        JournalFact(kind, more.adding("enrollment", id.text))
    }
}

// MARK: Messages and requests

extension JournalFact {
    // An entry has `payload` if it is about a new message.

    /// A new message that changes no request by itself.
    package static func received(_ message: SeenMessage, acsTransId: String? = nil, cancels: TokenID? = nil)
        -> JournalFact
    {
        about(message, .received, with: JSONObject().adding(message, acsTransId).adding("cancels", cancels?.text))
    }

    /// A repetition of a decided transaction, under the jti of `message`.
    package static func duplicate(_ message: SeenMessage, acsTransId: String?) -> JournalFact {
        about(message, .duplicate, with: JSONObject().adding(message, acsTransId))
    }

    /// Other bytes under a known jti, or another transaction under the acsTransId of a known request.
    ///
    /// - Parameter text: the digest of the request's text, if it changed.
    package static func conflict(_ message: SeenMessage, text: String? = nil) -> JournalFact {
        about(message, .conflict, with: JSONObject().adding("text", text))
    }

    /// - Parameters:
    ///   - text: the digest of the text that is shown for the request.
    ///   - message: the message of the request.
    package static func presented(_ request: RequestRecord, text: String?, by message: SeenMessage) -> JournalFact {
        about(request, .presented, with: JSONObject().adding("text", text).adding(message, request.acsTransId))
    }

    /// - Parameters:
    ///   - text: the digest of the text that is shown from now on.
    ///   - message: the message that replaces the earlier one.
    package static func superseded(_ request: RequestRecord, text: String?, by message: SeenMessage) -> JournalFact {
        about(request, .superseded, with: JSONObject().adding("text", text).adding(message, request.acsTransId))
    }

    package static func refused(
        _ request: RequestRecord, token: String, reason: DenyReason, by message: SeenMessage
    ) -> JournalFact {
        let facts: JSONObject = ["refusal": .string(token), "reason": .string(reason.rawValue)]
        return about(request, .refused, with: facts.adding(message, request.acsTransId))
    }

    /// - Parameter message: the message that came too late, or `nil` if the request expired by the clock.
    package static func expired(_ request: RequestRecord, by message: SeenMessage? = nil) -> JournalFact {
        about(request, .expired, with: JSONObject().adding(message, request.acsTransId))
    }

    /// - Parameter message: the message that was cancelled before it came, or `nil` if the request's present message
    ///   had come already.
    package static func cancelled(_ request: RequestRecord, by message: SeenMessage? = nil) -> JournalFact {
        about(request, .cancelled, with: JSONObject().adding(message, request.acsTransId))
    }

    private static func about(_ message: SeenMessage, _ kind: Kind, with more: JSONObject = [:]) -> JournalFact {
        let facts = more.adding("request", message.requestId?.text).adding("jti", message.jti.text)
        return about(message.enrollmentId, kind, with: facts)
    }

    private static func about(_ request: RequestRecord, _ kind: Kind, with more: JSONObject = [:]) -> JournalFact {
        about(request.enrollmentId, kind, with: more.adding("request", request.id.text).adding("jti", request.jti.text))
    }
}

// MARK: Decisions

extension JournalFact {
    /// - Parameters:
    ///   - text: the digest of the request's present text.
    ///   - signed: for an approval, the signCount of its assertion, and whether its key verified the user.
    package static func decided(
        _ decision: RequestLife.Decision, on request: RequestRecord, by approver: Approver, text: String?,
        signed: (signCount: UInt32, isUserVerified: Bool)? = nil
    ) -> JournalFact {
        var facts = approver.journaled(text: text).adding("text", text)
        if signed?.isUserVerified == true { facts["verified"] = "pin" }
        facts["signCount"] = signed.map { .integer(Int64($0.signCount)) }
        switch decision {
        case .approve: facts["decision"] = "approve"
        case .deny(let reason):
            facts["decision"] = "deny"
            facts["reason"] = .string(reason.rawValue)
        }
        return about(request, .decided, with: facts)
    }

    // The digest of the sent bytes is in the first entry after the first sending since the agent started.

    /// The first sending since the agent started, without a result yet.
    package static func sent(_ entry: OutboxEntry) throws -> JournalFact {
        about(entry, .sent, with: try JSONObject().adding(bodyOf: entry))
    }

    /// - Parameters:
    ///   - times: the number of sendings since the agent started.
    ///   - isFirst: whether no entry reports a sending yet.
    package static func answered(
        _ entry: OutboxEntry, _ status: TransStatus, times: Int, isFirst: Bool
    ) throws -> JournalFact {
        let facts: JSONObject = ["transStatus": .string(status.rawValue), "times": .integer(Int64(times))]
        return about(entry, .answered, with: try isFirst ? facts.adding(bodyOf: entry) : facts)
    }

    /// - Parameters:
    ///   - times: the number of sendings since the agent started, or `nil` if it is not known.
    ///   - isFirst: whether it was sent, and no entry reports that yet.
    package static func deliveryFailed(
        _ entry: OutboxEntry, token: String, times: Int? = nil, isFirst: Bool = false
    ) throws -> JournalFact {
        var facts: JSONObject = ["failure": .string(token)]
        facts["times"] = times.map { .integer(Int64($0)) }
        return about(entry, .deliveryFailed, with: try isFirst ? facts.adding(bodyOf: entry) : facts)
    }

    /// An action of a persona that is not a decision.
    ///
    /// - Parameter answer: the result, in words that name no person.
    package static func played(
        _ what: String, by persona: String, _ request: RequestRecord, answer: String?
    ) -> JournalFact {
        let facts: JSONObject = ["persona": .string(persona), "did": .string(what)]
        return about(request, .played, with: facts.adding("answer", answer))
    }

    private static func about(_ entry: OutboxEntry, _ kind: Kind, with more: JSONObject) -> JournalFact {
        about(
            entry.enrollmentId, kind, with: more.adding("request", entry.requestId?.text).adding("jti", entry.jti.text))
    }
}

extension JSONObject {
    fileprivate func adding(_ tries: PINTries) -> JSONObject {
        var object = self
        object["failures"] = .integer(Int64(tries.failures))
        return object
    }

    /// Adds the members of a new message, if there is one.
    fileprivate func adding(_ message: SeenMessage?, _ acsTransId: String?) -> JSONObject {
        guard let message else { return self }
        return adding("payload", Base64URL.encode(message.payloadDigest)).adding("acsTransId", acsTransId)
    }

    fileprivate func adding(bodyOf entry: OutboxEntry) throws -> JSONObject {
        adding("body", try entry.body.map { Base64URL.encode(try SHA256Digest.of($0)) })
    }

    /// Adds one more member, if it has a value.
    func adding(_ name: String, _ text: String?) -> JSONObject {
        guard let text else { return self }
        var object = self
        object[name] = .string(text)
        return object
    }
}
