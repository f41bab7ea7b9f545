package import StrictJSON
package import WebAuthn

/// The reasons of a deny.
///
/// The raw values are sent to the issuer.
package enum DenyReason: String, Sendable, CaseIterable {
    case userDenied, suspectedFraud, invalidRequest, duplicate, policy
}

/// The bytes of a decision, which are sent and repeated unchanged.
package enum DecisionBody {
    package static func approve(_ response: AuthenticationResponse) -> [UInt8] {
        let body: JSONObject = ["decision": "approve", "credential": .object(response.json)]
        return body.serialized()
    }

    package static func deny(_ reason: DenyReason) -> [UInt8] {
        let body: JSONObject = ["decision": "deny", "reason": .string(reason.rawValue)]
        return body.serialized()
    }
}

/// A decision as the issuer's side reads it.
///
/// No part of it is verified.
package enum DecisionMessage: Sendable, Equatable {
    case approve(AuthenticationResponse)
    case deny(DenyReason)

    package init(bytes: [UInt8]) throws(ProtocolError) {
        self = try ProtocolError.readingObject("decision", in: bytes) { object in
            let decision = try object.string("decision")
            if decision.utf8.elementsEqual("approve".utf8) {
                return .approve(try AuthenticationResponse(json: object.object("credential")))
            }
            guard decision.utf8.elementsEqual("deny".utf8) else {
                throw JSONMemberError(path: "/decision", problem: "must be approve or deny")
            }
            guard let reason = DenyReason(exactly: try object.string("reason")) else {
                let reasons = DenyReason.allCases.map(\.rawValue).joined(separator: ", ")
                throw JSONMemberError(path: "/reason", problem: "must be one of \(reasons)")
            }
            return .deny(reason)
        }
    }
}

/// The outcome in the issuer's answer: the transStatus of EMV 3-D Secure's final CRes, which has no other values.
package enum TransStatus: String, Sendable, CaseIterable {
    case authenticated = "Y"
    case notAuthenticated = "N"
}

/// The issuer's answer to a decision.
package struct DecisionAnswer: Sendable, Equatable {
    package let transStatus: TransStatus

    package init(transStatus: TransStatus) { self.transStatus = transStatus }

    package init(bytes: [UInt8]) throws(ProtocolError) {
        transStatus = try ProtocolError.readingObject("decision answer", in: bytes) { object in
            guard let status = TransStatus(exactly: try object.string("transStatus")) else {
                throw JSONMemberError(path: "/transStatus", problem: "must be Y or N")
            }
            return status
        }
    }

    package var json: JSONObject { ["transStatus": .string(transStatus.rawValue)] }
}
