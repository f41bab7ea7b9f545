package import IssuerProtocol
import Keys
package import Records
package import StrictJSON
import TextAndTime

// MARK: The agent

extension JournalFact {
    /// The journal begins, under this key.
    ///
    /// - Parameter host: whose chain it is; nil if the store has one chain.
    static func auditKeyMade(_ key: PublicKey, of host: String? = nil) -> JournalFact {
        let facts: JSONObject = ["publicKey": .string(Base64URL.encode(key.subjectPublicKeyInfo))]
        return JournalFact(.auditKeyMade, facts.adding("host", host))
    }

    package static func started(version: String) -> JournalFact { JournalFact(.started, ["version": .string(version)]) }

    package static let stopped = JournalFact(.stopped)

    /// So many keys and access tokens were brought under another secret.
    package static func secretChanged(keys: Int, tokens: Int) -> JournalFact {
        JournalFact(.secretChanged, ["keys": .integer(Int64(keys)), "tokens": .integer(Int64(tokens))])
    }
}

extension JournalFact {
    /// A test set the agent's clock forward; the entries behind it have that time.
    ///
    /// - Parameter offset: how far it is ahead of the machine's then, in seconds.
    package static func clockAdvanced(by seconds: Int64, to offset: Int64, by peer: ControlPeer) -> JournalFact {
        let facts: JSONObject = ["seconds": .integer(seconds), "offset": .integer(offset)]
        return JournalFact(.clockAdvanced, JSONObject(facts.members + peer.journaled.members))
    }
}

// MARK: Commands

/// What a client of the control socket has the agent do; a decision has an entry of its own that says who.
package enum JournaledCommand: String, Sendable, CaseIterable {
    case enroll, unenroll, changePIN, exportKey, exportPublicKey, rotatePush, backup, setPersona, clearPersona,
        reloadRules
}

extension JournalFact {
    /// - Parameter id: the enrollment that it is about; nil for one that is to be made, and for all.
    package static func commanded(
        _ command: JournaledCommand, by peer: ControlPeer, about id: EnrollmentID?
    ) -> JournalFact {
        let facts = JSONObject([.init(name: "command", value: .string(command.rawValue))] + peer.journaled.members)
        return JournalFact(.commanded, facts.adding("enrollment", id?.text))
    }
}

// MARK: Enrollments

extension JournalFact {
    /// - Throws: what a digest fails with.
    package static func enrolled(_ enrollment: Enrollment, as authenticatorId: TokenID) throws -> JournalFact {
        JournalFact(.enrolled, try enrolledMembers(of: enrollment).adding("authenticator", authenticatorId.text))
    }

    /// What an `enrolled` entry says that the enrollment's row says too.
    static func enrolledMembers(of enrollment: Enrollment) throws -> JSONObject {
        [
            "enrollment": .string(enrollment.id.text),
            "credential": .string(Base64URL.encode(enrollment.credentialId)),
            "authnType": .string(enrollment.authnType.rawValue), "algorithm": .integer(Int64(enrollment.algorithm)),
            "issuer": .string(try digest(enrollment.target.issuer.text)), "rp": .string(try digest(enrollment.rpId)),
        ]
    }

    /// Of what is an address: that is no part of the journal.
    static func digest(_ text: String) throws -> String { Base64URL.encode(try SHA256Digest.of(Array(text.utf8))) }

    package static func enrollmentGivenUp(_ id: EnrollmentID) -> JournalFact { about(id, .enrollmentGivenUp) }

    package static func suspended(_ id: EnrollmentID) -> JournalFact { about(id, .suspended) }

    package static func resumed(_ id: EnrollmentID) -> JournalFact { about(id, .resumed) }

    package static func unenrolled(_ id: EnrollmentID) -> JournalFact { about(id, .unenrolled) }

    /// Its personal data is nowhere in the store's files any more.
    package static func erased(_ id: EnrollmentID) -> JournalFact { about(id, .erased) }

    package static func signCountRaised(_ id: EnrollmentID, _ raise: SignCountRaise) -> JournalFact {
        about(id, .signCountRaised, with: ["from": .integer(Int64(raise.from)), "to": .integer(Int64(raise.to))])
    }

    /// A wrong PIN was tried.
    static func notVerified(_ subject: PINTries.Subject, _ tries: PINTries) -> JournalFact {
        JournalFact(.notVerified, subject.journaled.adding(tries))
    }

    /// A PIN was right, and nothing was decided, or it is of a key that had wrong ones before.
    package static func verified(_ subject: PINTries.Subject) -> JournalFact {
        JournalFact(.verified, subject.journaled)
    }

    /// Something else than the agent had set them back.
    package static func pinTriesPutBack(_ subject: PINTries.Subject, _ tries: PINTries) -> JournalFact {
        JournalFact(.pinTriesPutBack, subject.journaled.adding(tries))
    }

    /// No try is taken for some time.
    package static func blocked(_ subject: PINTries.Subject, _ tries: PINTries) -> JournalFact {
        JournalFact(.blocked, subject.journaled.adding(tries).adding("until", tries.blockedUntil.map(UTCTime.text)))
    }

    /// - Parameter enrollment: as it is written: an older row has a lower version.
    package static func pinChanged(_ enrollment: Enrollment) -> JournalFact {
        about(enrollment.id, .pinChanged, with: ["rowVersion": .integer(enrollment.version)])
    }

    package static func about(_ id: EnrollmentID, _ kind: Kind, with more: JSONObject = [:]) -> JournalFact {
        JournalFact(kind, more.adding("enrollment", id.text))
    }
}

// MARK: Messages and requests

extension JournalFact {
    // An entry has `payload` if it is about a message that came and was not known.

    /// A message came that changes no request by itself.
    package static func received(_ message: SeenMessage, acsTransId: String? = nil, cancels: TokenID? = nil)
        -> JournalFact
    {
        about(message, .received, with: JSONObject().adding(message, acsTransId).adding("cancels", cancels?.text))
    }

    /// The same transaction came again after it was decided, under the jti of `message`.
    package static func duplicate(_ message: SeenMessage, acsTransId: String?) -> JournalFact {
        about(message, .duplicate, with: JSONObject().adding(message, acsTransId))
    }

    /// Other bytes came under a known jti, or another transaction under the acsTransId of a known request.
    ///
    /// - Parameter text: the digest of the request's text, if that changed.
    package static func conflict(_ message: SeenMessage, text: String? = nil) -> JournalFact {
        about(message, .conflict, with: JSONObject().adding("text", text))
    }

    /// - Parameters:
    ///   - text: the digest of the text that is shown for it.
    ///   - message: with which it came.
    package static func presented(_ request: RequestRecord, text: String?, by message: SeenMessage) -> JournalFact {
        about(request, .presented, with: JSONObject().adding("text", text).adding(message, request.acsTransId))
    }

    /// - Parameters:
    ///   - text: the digest of the text that is shown from now on.
    ///   - message: the one that took over.
    package static func superseded(_ request: RequestRecord, text: String?, by message: SeenMessage) -> JournalFact {
        about(request, .superseded, with: JSONObject().adding("text", text).adding(message, request.acsTransId))
    }

    package static func refused(
        _ request: RequestRecord, token: String, reason: DenyReason, by message: SeenMessage
    ) -> JournalFact {
        let facts: JSONObject = ["refusal": .string(token), "reason": .string(reason.rawValue)]
        return about(request, .refused, with: facts.adding(message, request.acsTransId))
    }

    /// - Parameter message: the one that came too late; nil if the clock closed it.
    package static func expired(_ request: RequestRecord, by message: SeenMessage? = nil) -> JournalFact {
        about(request, .expired, with: JSONObject().adding(message, request.acsTransId))
    }

    /// - Parameter message: the one that was taken back before it came; nil if it was there.
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
    ///   - text: the digest of the request's text as it is.
    ///   - signed: of an approval, the number of its assertion, and whether its key verified the user.
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

    // The digest of what was sent is in the first entry that is made after the first sending since the agent started.

    /// It was sent for the first time since the agent started, and nothing came of it yet.
    package static func sent(_ entry: OutboxEntry) throws -> JournalFact {
        about(entry, .sent, with: try JSONObject().adding(bodyOf: entry))
    }

    /// - Parameters:
    ///   - times: how often it was sent since the agent started.
    ///   - isFirst: whether no entry says yet that it was sent.
    package static func answered(
        _ entry: OutboxEntry, _ status: TransStatus, times: Int, isFirst: Bool
    ) throws -> JournalFact {
        let facts: JSONObject = ["transStatus": .string(status.rawValue), "times": .integer(Int64(times))]
        return about(entry, .answered, with: try isFirst ? facts.adding(bodyOf: entry) : facts)
    }

    /// - Parameters:
    ///   - times: how often it was sent since the agent started; nil if that is not known.
    ///   - isFirst: whether it was sent, and no entry says so yet.
    package static func deliveryFailed(
        _ entry: OutboxEntry, token: String, times: Int? = nil, isFirst: Bool = false
    ) throws -> JournalFact {
        var facts: JSONObject = ["failure": .string(token)]
        facts["times"] = times.map { .integer(Int64($0)) }
        return about(entry, .deliveryFailed, with: try isFirst ? facts.adding(bodyOf: entry) : facts)
    }

    /// A persona did something that is no decision.
    ///
    /// - Parameter answer: what came of it, in words that name nobody.
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

    /// With what a message says that was not known; as it is if there is none.
    fileprivate func adding(_ message: SeenMessage?, _ acsTransId: String?) -> JSONObject {
        guard let message else { return self }
        return adding("payload", Base64URL.encode(message.payloadDigest)).adding("acsTransId", acsTransId)
    }

    fileprivate func adding(bodyOf entry: OutboxEntry) throws -> JSONObject {
        adding("body", try entry.body.map { Base64URL.encode(try SHA256Digest.of($0)) })
    }

    /// With one more member, if it has a value.
    func adding(_ name: String, _ text: String?) -> JSONObject {
        guard let text else { return self }
        var object = self
        object[name] = .string(text)
        return object
    }
}
