package import StrictJSON
import TextAndTime

/// The issuer's discovery document at `/.well-known/oob-authenticator`.
///
/// All addresses in it begin with the issuer's origin, spelled the same way. Endpoints have no query and no fragment,
/// because paths are appended to them.
package struct Discovery: Sendable, Equatable {
    /// The protocol version that this code speaks.
    ///
    /// There is no other.
    package static let protocolVersion: Int64 = 1
    /// The path of the document, appended to the issuer's URL.
    package static let path = "/.well-known/oob-authenticator"

    package let issuer: IssuerURL
    package let jwksUri: String
    package let enrollmentOptionsEndpoint: String
    package let enrollmentsEndpoint: String
    package let authnRequestsEndpoint: String
    package let authenticatorEndpoint: String
    /// The batch fetch endpoint.
    ///
    /// `nil` if the issuer has none.
    package let batchFetchEndpoint: String?
    /// An uncompressed P-256 point of 65 bytes.
    ///
    /// `nil` if the issuer does not push.
    package let vapidPublicKey: [UInt8]?

    package init(
        issuer: IssuerURL, jwksUri: String, enrollmentOptionsEndpoint: String, enrollmentsEndpoint: String,
        authnRequestsEndpoint: String, authenticatorEndpoint: String, batchFetchEndpoint: String? = nil,
        vapidPublicKey: [UInt8]? = nil
    ) {
        self.issuer = issuer
        self.jwksUri = jwksUri
        self.enrollmentOptionsEndpoint = enrollmentOptionsEndpoint
        self.enrollmentsEndpoint = enrollmentsEndpoint
        self.authnRequestsEndpoint = authnRequestsEndpoint
        self.authenticatorEndpoint = authenticatorEndpoint
        self.batchFetchEndpoint = batchFetchEndpoint
        self.vapidPublicKey = vapidPublicKey
    }

    /// Reads the document from the URL `expected`, and refuses the document of another issuer.
    package init(json bytes: [UInt8], expected: IssuerURL) throws(ProtocolError) {
        self = try ProtocolError.readingObject("discovery", in: bytes) { object in
            try DiscoveryReader(object: object, issuer: expected).discovery()
        }
    }

    package var json: JSONObject {
        var object: JSONObject = [
            "issuer": .string(issuer.text), "protocolVersions": [.integer(Self.protocolVersion)],
            "jwksUri": .string(jwksUri), "enrollmentOptionsEndpoint": .string(enrollmentOptionsEndpoint),
            "enrollmentsEndpoint": .string(enrollmentsEndpoint),
            "authnRequestsEndpoint": .string(authnRequestsEndpoint),
            "authenticatorEndpoint": .string(authenticatorEndpoint),
        ]
        object["batchFetchEndpoint"] = batchFetchEndpoint.map { .string($0) }
        object["vapidPublicKey"] = vapidPublicKey.map { .string(Base64URL.encode($0)) }
        return object
    }
}

private struct DiscoveryReader {
    let object: JSONObject
    let issuer: IssuerURL

    func discovery() throws -> Discovery {
        try checkVersions()
        let named = try object.string("issuer", bytes: 0...300)
        guard named.utf8.elementsEqual(issuer.text.utf8) else {
            // Quote only a URL: any other text is under the server's control.
            let other = (try? IssuerURL(named)).map { other in
                other.isByAddress
                    ? "; it is \(other.text), an IP address: let the issuer call itself by a name, on this host localhost"
                    : "; it is \(other.text): give that URL if it is the one you mean"
            }
            throw JSONMemberError(
                path: "/issuer", problem: "must be \(issuer.text), the URL that it was fetched from\(other ?? "")")
        }
        return Discovery(
            issuer: issuer, jwksUri: try address("jwksUri", mayHaveQuery: true),
            enrollmentOptionsEndpoint: try address("enrollmentOptionsEndpoint"),
            enrollmentsEndpoint: try address("enrollmentsEndpoint"),
            authnRequestsEndpoint: try address("authnRequestsEndpoint"),
            authenticatorEndpoint: try address("authenticatorEndpoint"),
            batchFetchEndpoint: try object.optionalString("batchFetchEndpoint") == nil
                ? nil : address("batchFetchEndpoint"),
            vapidPublicKey: try vapidPublicKey())
    }

    private func checkVersions() throws {
        let versions = try object.array("protocolVersions", count: 0...100)
        guard versions.contains(.integer(Discovery.protocolVersion)) else {
            throw JSONMemberError(
                path: "/protocolVersions",
                problem: "must hold \(Discovery.protocolVersion), the only version spoken here")
        }
    }

    private func address(_ name: String, mayHaveQuery: Bool = false) throws -> String {
        let text = try object.string(name, bytes: 1...2_048)
        let isPlain = text.utf8.allSatisfy { byte in
            (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "#") && byte != UInt8(ascii: "\\")
                && (mayHaveQuery || byte != UInt8(ascii: "?"))
        }
        guard text.utf8.starts(with: (issuer.text + "/").utf8), isPlain else {
            let rest = mayHaveQuery ? "a fragment" : "query or fragment"
            throw JSONMemberError(
                path: "/" + name, problem: "must start with \(issuer.text)/ and be printable ASCII without \(rest)")
        }
        return text
    }

    private func vapidPublicKey() throws -> [UInt8]? {
        guard let point = try object.optionalBase64url("vapidPublicKey", bytes: 65...65) else { return nil }
        guard (try? VAPIDKey(point: point)) != nil else {
            throw JSONMemberError(path: "/vapidPublicKey", problem: "must be an uncompressed point on P-256")
        }
        return point
    }
}
