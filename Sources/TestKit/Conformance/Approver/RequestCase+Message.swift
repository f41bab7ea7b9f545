package import IssuerProtocol
package import Keys
package import StrictJSON
import TextAndTime
import ThreeDS

// Builds the message that a case describes; `conformance/cases/approver/README.md` explains its members.
extension RequestCase {
    private static let members: Set<String> = [
        "set", "repeat", "fill", "remove", "recommit", "size", "twice", "rawHeader", "rawPayload", "signedBy",
        "signatureOver", "signatureBytes", "compact", "append", "now", "facts",
    ]

    /// - Parameter adapt: replaces the good request's parties and times with those of a run.
    package func message(
        signedBy key: SigningKey, orBy other: SigningKey, adapt: (JSONValue) throws -> JSONValue = { $0 }
    ) throws -> String {
        for member in patch.members where !Self.members.contains(member.name) {
            throw CaseError("unknown member: \(member.name)")
        }
        if let compact = try patch.optionalString("compact") { return compact }
        let request = try padded(try recommitted(try adapt(try patched(good))))
        let signer = try signer(key, other)
        let header = try patch.optionalString("rawHeader") ?? text(request, "header")
        let payload = try patch.optionalString("rawPayload") ?? text(request, "claims")
        let input = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(payload.utf8)))"
        var signature = try signer.rawSignature(over: Array((patch.optionalString("signatureOver") ?? input).utf8))
        if let count = try patch.optionalInteger("signatureBytes", in: 0...1_000) {
            signature = Array((signature + Array(repeating: 0, count: Int(count))).prefix(Int(count)))
        }
        return try "\(input).\(Base64URL.encode(signature))" + (patch.optionalString("append") ?? "")
    }

    /// The time at which the message is read, in seconds since 1970.
    package var now: Int64 {
        get throws { try patch.optionalInteger("now") ?? 1_697_522_200 }
    }

    /// The enrollment that the message is for.
    package var facts: EnrollmentFacts {
        get throws {
            let changed = try patch.optionalObject("facts") ?? [:]
            let policy = try changed.optionalString("exponentPolicy").map { name in
                try ExponentPolicy(rawValue: name) ?? { throw CaseError("no policy: \(name)") }()
            }
            return EnrollmentFacts(
                issuer: try IssuerURL("https://issuer.example"),
                authenticatorId: try TokenID("authenticator-1") ?? { throw CaseError("no id") }(),
                rpId: "issuer.example", credentialId: Array("credential-1".utf8),
                canVerifyUser: try changed.optionalBool("canVerifyUser") ?? true, exponentPolicy: policy ?? .refuse)
        }
    }

    private func patched(_ good: JSONValue) throws -> JSONValue {
        var request = good
        for member in try patch.optionalObject("set")?.members ?? [] {
            request = try request.with(member.value, at: Place(member.name).tokens[...])
        }
        for member in try patch.optionalObject("repeat")?.members ?? [] {
            guard case .object(let what) = member.value else { throw CaseError("repeat: \(member.name)") }
            let repeated = String(repeating: try what.string("text"), count: Int(try what.integer("count")))
            let text = try (what.optionalString("before") ?? "") + repeated
            request = try request.with(.string(text), at: Place(member.name).tokens[...])
        }
        if let fill = try patch.optionalObject("fill") {
            for number in 1...(try fill.integer("count")) {
                let place = try Place(fill.string("under")).tokens + ["m\(number)"]
                request = try request.with("x", at: place[...])
            }
        }
        for case .string(let pointer) in try patch.optionalArray("remove") ?? [] {
            let place = try Place(pointer).tokens
            guard request.value(at: place[...]) != nil else { throw CaseError("nothing to remove at \(pointer)") }
            request = try request.with(.none, at: place[...])
        }
        return request
    }

    private func recommitted(_ request: JSONValue) throws -> JSONValue {
        let place = ["claims", "publicKey", "challenge"]
        guard try patch.optionalBool("recommit") ?? true, request.value(at: place[...]) != nil,
            case .object(let transaction)? = request.value(at: ["claims", "transaction"]),
            case .string(let nonce)? = request.value(at: ["claims", "nonce"]),
            let challenge = try? ChallengeCommitment.challenge(
                nonce: Base64URL.decode(nonce) ?? [], transaction: transaction)
        else { return request }
        return try request.with(.string(Base64URL.encode(challenge)), at: place[...])
    }

    /// Pads the request to a size; a base64url text never has 4n+1 characters, so the header may need a byte more.
    private func padded(_ request: JSONValue) throws -> JSONValue {
        guard let size = try patch.optionalInteger("size") else { return request }
        for headerPad in 0..<4 {
            func padded(_ claimsPad: Int) throws -> JSONValue {
                try request.with(.string(String(repeating: "p", count: headerPad)), at: ["header", "pad"])
                    .with(.string(String(repeating: "p", count: claimsPad)), at: ["claims", "pad"])
            }
            let bare = try padded(0)
            let header = Base64URL.encode(Array(try text(bare, "header").utf8)).utf8.count
            let room = (Int(size) - header - 2 - 86) * 3 / 4
            let full = try padded(room - (try text(bare, "claims").utf8.count))
            let payload = Base64URL.encode(Array(try text(full, "claims").utf8)).utf8.count
            if header + 1 + payload + 1 + 86 == Int(size) { return full }
        }
        throw CaseError("cannot be padded to \(size)")
    }

    private func signer(_ key: SigningKey, _ other: SigningKey) throws -> SigningKey {
        guard let name = try patch.optionalString("signedBy") else { return key }
        guard name == "other" else { throw CaseError("signedBy: \(name)") }
        return other
    }

    private func text(_ request: JSONValue, _ part: String) throws -> String {
        guard let value = request.value(at: [part]) else { throw CaseError("no \(part)") }
        let places = try (patch.optionalArray("twice") ?? []).map { pointer in
            guard case .string(let pointer) = pointer else { throw CaseError("twice") }
            let place = try Place(pointer).tokens
            guard request.value(at: place[...]) != nil else { throw CaseError("nothing at \(pointer)") }
            return place
        }
        return value.text(twice: places, at: [part])
    }
}
