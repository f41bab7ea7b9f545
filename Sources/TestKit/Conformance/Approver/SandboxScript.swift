import IssuerProtocol
import Sandbox
import StrictJSON

/// The authenticator that enrolled with the issuer of a case.
struct EnrolledApprover: Sendable {
    let id: TokenID
    let credentialId: [UInt8]
    /// Whether its approvals carry UV.
    let canVerifyUser: Bool
}

/// The script of a case's issuer: its differences from the sandbox, and the calls it received.
struct SandboxScript {
    /// The published keys, by their `kid`.
    var published = [ScriptedSandbox.keyID]
    /// Members to change in the answers of an endpoint; a `null` removes one.
    ///
    /// Only keys, the creation options and the discovery document can be changed. The discovery document leaves out the
    /// members that a case is not about.
    var changes: [CaseEndpoint: JSONObject] = [
        .discovery: ["batchFetchEndpoint": .null, "vapidPublicKey": .null]
    ]
    var scripts: [CaseEndpoint: [ScriptedAnswer]] = [:]
    private(set) var calls: [ApproverCall] = []
    /// The size of the stored bodies.
    private var bytes = 0
    /// The last enrolled authenticator.
    var member: EnrolledApprover?
    /// The reason why an enrollment failed, if one came.
    var enrollmentProblem: String?

    /// Records a call if there is room, and returns its number and its scripted answer, if there is one.
    mutating func record(_ call: ApproverCall) -> (number: Int?, script: ScriptedAnswer?) {
        let hasRoom = calls.count < ApproverCall.limit && bytes + call.body.count <= ApproverCall.maxBytes
        if hasRoom {
            calls.append(call)
            bytes += call.body.count
        }
        let script = scripts[call.endpoint].flatMap(\.first)
        if script != nil { scripts[call.endpoint]?.removeFirst() }
        return (hasRoom ? calls.count - 1 : nil, script)
    }

    mutating func keep(_ answer: Answer, to number: Int) { calls[number].answer = answer }
}

extension JSONObject {
    /// Returns a copy with changed members; a `null` removes one.
    func changed(by changes: JSONObject) -> JSONObject {
        var object = self
        for member in changes.members { object[member.name] = member.value == .null ? .none : member.value }
        return object
    }
}
