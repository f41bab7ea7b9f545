import Control
import PageServing
import StrictJSON
import TextAndTime

/// The messages on the wire, decoded into parts for the templates.
enum WireParts {
    static func context(_ evidence: EvidenceView) -> [String: Any] {
        var context: [String: Any] = ["parts": message(evidence)]
        if let commitment = commitment(evidence) { context["commitment"] = commitment }
        if let assertion = evidence.assertion { context["assertion"] = self.assertion(assertion) }
        if let decision = evidence.decision { context["decision"] = PageText.json(Array(decision.utf8)) }
        if let answer = answer(evidence.request) { context["answer"] = answer }
        return context
    }

    private static func message(_ evidence: EvidenceView) -> [[String: Any]] {
        guard let message = evidence.message else { return [] }
        let parts = message.split(separator: ".").map { Base64URL.decode(String($0)) ?? [] }
        guard parts.count == 3 else { return [] }
        return [
            ["title": "Header", "text": PageText.json(parts[0])], ["title": "Claims", "text": PageText.json(parts[1])],
            ["title": "Signature (base64url)", "text": String(message.split(separator: ".")[2])],
            ["title": "As it came (compact JWS)", "text": message],
        ]
    }

    /// Returns the input of the challenge: each member, and the bytes that are hashed.
    private static func commitment(_ evidence: EvidenceView) -> [String: Any]? {
        guard let nonce = evidence.nonce, let transaction = evidence.transaction else { return nil }
        var context: [String: Any] = [
            "nonce": nonce, "canonical": transaction, "shown": PageText.text(transaction),
            "members": members(Array(transaction.utf8)).map { ["name": $0.name, "value": $0.value] },
        ]
        context["challenge"] = challenge(of: evidence.message) ?? ""
        return context
    }

    /// Returns the member `publicKey.challenge` of a message's claims.
    private static func challenge(of message: String?) -> String? {
        guard let parts = message?.split(separator: "."), parts.count == 3,
            let claims = Base64URL.decode(String(parts[1])),
            let object = try? JSONReader.object(claims, limits: JSONLimits(maxBytes: 65_536)),
            case .object(let publicKey)? = object["publicKey"], case .string(let challenge)? = publicKey["challenge"]
        else { return nil }
        return PageText.text(challenge)
    }

    private static func assertion(_ assertion: AssertionView) -> [String: Any] {
        let clientData = Base64URL.decode(assertion.clientDataJSON) ?? []
        let data = Base64URL.decode(assertion.authenticatorData) ?? []
        var context: [String: Any] = [
            "clientData": PageText.json(clientData), "signature": assertion.signature,
            "challenge": string("challenge", in: clientData).map { PageText.text($0) } ?? "",
        ]
        // WebAuthn §6.1: 32 bytes of rpIdHash, one of flags, four of signCount.
        if data.count >= 37 {
            let count = data[33..<37].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            context["authenticatorData"] = [
                "rpIdHash": Base64URL.encode(Array(data[..<32])), "flags": flags(data[32]), "signCount": String(count),
                "more": data.count > 37 ? "\(data.count - 37) further bytes" : "none",
            ]
        }
        return context
    }

    private static func flags(_ byte: UInt8) -> String {
        let names = [(0, "UP"), (2, "UV"), (3, "BE"), (4, "BS"), (6, "AT"), (7, "ED")]
        let set = names.filter { byte & (1 << $0.0) != 0 }.map(\.1).joined(separator: " ")
        let bits = String(byte, radix: 2)
        return "\(set.isEmpty ? "none" : set) (\(String(repeating: "0", count: 8 - bits.count))\(bits))"
    }

    private static func answer(_ request: RequestView) -> String? {
        switch request.delivery {
        case .none: nil
        case .queued: "None yet; the agent goes on sending."
        case .delivered: "transStatus \(request.transStatus ?? "none")"
        case .failed:
            "Not taken: "
                + [request.deliveryFailure, request.deliveryError].compactMap { $0.map { PageText.text($0) } }
                .joined(separator: ", ")
        }
    }

    private static func string(_ name: String, in json: [UInt8]) -> String? {
        guard let object = try? JSONReader.object(json, limits: JSONLimits(maxBytes: 65_536)),
            case .string(let text)? = object[name]
        else { return nil }
        return text
    }

    private static func members(_ json: [UInt8]) -> [(name: String, value: String)] {
        guard let object = try? JSONReader.object(json, limits: JSONLimits(maxBytes: 65_536)) else { return [] }
        return object.members.map { member in
            (PageText.text(member.name), PageText.text(RequestStory.plain(member.value)))
        }
    }
}
