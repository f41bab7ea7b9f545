import IssuerProtocol
import Keys
import StrictJSON

/// What an issuer says of itself, and its errors.
enum IssuerChecks {
    static func issuerURL(_ input: [UInt8]) throws {
        guard let url = try? IssuerURL(input.text) else { return }
        try mustHold(url.text.utf8.elementsEqual(input), "an issuer is kept byte for byte")
        let isPlain = url.host.utf8.allSatisfy { byte in
            switch byte {
            case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "."): true
            default: false
            }
        }
        try mustHold(isPlain || url.host == "[::1]", "a host is of lower-case letters, digits, hyphens and dots")
        try mustHold((1...65_535).contains(url.port), "a port is one")
        try mustHold(url.text.hasPrefix("https://") || url.isLoopback, "http is for loopback only")
        let rest = url.text.split(separator: "://", maxSplits: 1).last.map(String.init) ?? ""
        try mustHold(!rest.contains(where: { "/?#@\\".contains($0) }), "nothing stands after the port")
        try mustHold(!url.permits(rpId: "example") || url.host == "example", "a single label is no parent")
        try mustHold(!url.permits(rpId: ""), "the empty name is no relying party")
    }

    static func discovery(_ input: [UInt8]) throws {
        let issuer = try IssuerURL("https://issuer.example")
        guard let discovery = try? Discovery(json: input, expected: issuer) else { return }
        try mustHold(
            try Discovery(json: discovery.json.serialized(), expected: issuer) == discovery,
            "what was written reads the same")
        let addresses = [
            discovery.jwksUri, discovery.enrollmentOptionsEndpoint, discovery.enrollmentsEndpoint,
            discovery.authnRequestsEndpoint, discovery.authenticatorEndpoint, discovery.batchFetchEndpoint,
        ]
        for address in addresses.compactMap(\.self) {
            try mustHold(address.utf8.starts(with: "https://issuer.example/".utf8), "an address is the issuer's own")
            try mustBeOneLine(address, "an address")
        }
        let other = try? Discovery(json: input, expected: IssuerURL("https://other.example"))
        try mustHold(other == nil, "no issuer speaks for another")
    }

    static func jwkSet(_ input: [UInt8]) throws {
        guard let keys = try? JWKSet(json: input) else { return }
        let bytes = keys.json.serialized()
        let again = try JWKSet(json: bytes)
        try mustHold(again.json.serialized() == bytes, "what was written reads the same")
        var kids: Set<[UInt8]> = []
        for case .object(let jwk) in try keys.json.array("keys") {
            let kid = try jwk.string("kid")
            try mustHold(keys[kid]?.algorithm == .es256, "a key is found by its kid")
            try mustHold(kids.insert(Array(kid.utf8)).inserted, "a kid stands once")
        }
    }

    /// The first line is the content type, the rest the body.
    static func problem(_ input: [UInt8]) throws {
        let line = input.prefix { $0 != UInt8(ascii: "\n") }
        let body = Array(input.dropFirst(line.count + 1))
        guard let problem = Problem(bytes: body, contentType: Array(line).text) else { return }
        try mustHold(problem.code != nil && (100...599).contains(problem.status), "a problem has a code and a status")
        let isOurs = line.starts(with: "application/problem+json".utf8) || line.contains { (0x41...0x5A).contains($0) }
        try mustHold(isOurs || line.first == 0x20 || line.first == 0x09, "only a problem is one")
        try mustHold(
            Problem(bytes: problem.bytes, contentType: Problem.contentType) == problem,
            "what was written reads the same")
    }
}
