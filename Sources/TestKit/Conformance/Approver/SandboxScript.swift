import IssuerProtocol
import Sandbox
import StrictJSON

/// The authenticator that enrolled with a case's issuer.
struct EnrolledApprover: Sendable {
    let id: TokenID
    let credentialId: [UInt8]
    /// Whether its approvals verify its user.
    let canVerifyUser: Bool
}

/// The differences of a case's issuer from the sandbox, and the calls that came.
struct SandboxScript {
    /// The keys that are published, by their `kid`.
    var published = [ScriptedSandbox.keyID]
    /// Members of the answers of an endpoint that differ; null removes one.
    ///
    /// Changed are a key, the creation options, and the discovery document, which names what a case is about alone.
    var changes: [CaseEndpoint: JSONObject] = [
        .discovery: ["batchFetchEndpoint": .null, "vapidPublicKey": .null]
    ]
    var scripts: [CaseEndpoint: [ScriptedAnswer]] = [:]
    private(set) var calls: [ApproverCall] = []
    /// Of the bodies that are kept.
    private var bytes = 0
    /// The last that enrolled.
    var member: EnrolledApprover?
    /// Why an enrollment did not hold, if one came.
    var enrollmentProblem: String?

    /// Keeps a call if there is room, and returns its number, and the answer that it gets instead of the sandbox's.
    mutating func take(_ call: ApproverCall) -> (number: Int?, script: ScriptedAnswer?) {
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
    /// The same with other members; null removes one.
    func changed(by changes: JSONObject) -> JSONObject {
        var object = self
        for member in changes.members { object[member.name] = member.value == .null ? .none : member.value }
        return object
    }
}
