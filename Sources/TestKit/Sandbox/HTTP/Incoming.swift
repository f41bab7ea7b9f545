import HummingbirdCore
import IssuerProtocol
import StrictJSON
import TextAndTime

/// A complete HTTP request within the bounds.
package struct Call: Sendable {
    /// The limit of a body, in bytes.
    package static let maxBody = 1_048_576

    package var method: String
    /// The path without the query, percent-encoded as received.
    package var path: String
    /// The query's members; if a name is given twice, the first counts.
    package var query: [String: String]
    /// The `Authorization` field.
    package var authorization: String?
    /// The `traceparent` field (W3C Trace Context §3.2).
    package var traceparent: String?
    package var body: [UInt8]

    package init(
        _ method: String, _ path: String, query: [String: String] = [:], authorization: String? = nil,
        traceparent: String? = nil, body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.authorization = authorization
        self.traceparent = traceparent
        self.body = body
    }

    /// - Parameter target: the path and the query as received, percent-encoded.
    package init(
        _ method: String, target: String, authorization: String?, traceparent: String? = nil, body: [UInt8]
    ) {
        let uri = URI(target)
        var query: [String: String] = [:]
        for (name, value) in uri.queryParameters where query[String(name)] == nil {
            query[String(name)] = String(value)
        }
        self.init(
            method, uri.path, query: query, authorization: authorization, traceparent: traceparent, body: body)
    }
}

/// A call with the captures of its route.
struct Incoming: Sendable {
    private let call: Call
    /// The path's segments at the pattern's placeholders.
    let captured: [String]
    /// Whether no injected fault has changed this call.
    let isOriginal: Bool

    init(_ call: Call, captured: [String], isOriginal: Bool = true) {
        self.call = call
        self.captured = captured
        self.isOriginal = isOriginal
    }

    var body: [UInt8] { call.body }
    /// The first 256 bytes of `traceparent`.
    var traceparent: String? { call.traceparent.map { $0.beginning(bytes: 256) } }

    /// The token of `Authorization: Bearer …` (RFC 6750 §2.1).
    var bearerToken: AccessToken? {
        guard let parts = call.authorization?.split(separator: " ", maxSplits: 1), parts.count == 2,
            parts[0].lowercased() == "bearer"
        else { return nil }
        return AccessToken(String(parts[1]))
    }

    func query(_ name: String) -> String? { call.query[name] }

    /// Returns a copy without some members of the query, and with another body if one is given.
    func without(_ names: [String], body: [UInt8]?) -> Incoming {
        var call = call
        for name in names { call.query[name] = nil }
        if let body { call.body = body }
        return Incoming(call, captured: captured, isOriginal: false)
    }

    /// Reads the seconds to wait, 0 to 60; absent means 0.
    func wait() throws -> Int64 {
        guard let text = call.query["wait"] else { return 0 }
        guard let seconds = Self.number(text, in: 0...60) else {
            throw SandboxError.listed(.invalidRequest, "wait: must be a whole number of 0 to 60 seconds")
        }
        return seconds
    }

    /// Reads a whole number from the query, or returns `nil` if it is absent.
    func number(_ name: String, in range: ClosedRange<Int64>) throws(SandboxError) -> Int64? {
        guard let text = call.query[name] else { return nil }
        guard let number = Self.number(text, in: range) else {
            throw .badRequest("\(name): must be a whole number of \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Reads a Boolean from the query; absent means false.
    func flag(_ name: String) throws(SandboxError) -> Bool {
        switch call.query[name] {
        case nil, "false": false
        case "true": true
        default: throw .badRequest("\(name): must be true or false")
        }
    }

    private static func number(_ text: String, in range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int64(text).flatMap { range.contains($0) ? $0 : nil }
    }

    /// Parses the body as an object; an empty body is an empty object if the call allows it.
    func object(emptyAllowed: Bool = false) throws -> JSONObject {
        if emptyAllowed, body.isEmpty { return [:] }
        return try JSONReader.object(body, limits: JSONLimits(maxBytes: Call.maxBody))
    }
}
