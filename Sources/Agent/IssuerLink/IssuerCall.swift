internal import IssuerProtocol
internal import NIOCore
internal import NIOHTTP1
import TextAndTime

/// A request to an issuer, and the limits for its answer.
struct IssuerCall: Sendable {
    /// The client for the call.
    ///
    /// Long polls have their own, so they never use up the connections of other calls.
    enum ConnectionPool: Sendable { case calls, polls }

    /// The seconds that a long poll's answer may take beyond the requested wait.
    static let pollMargin = 15

    /// The limit for an answer, in seconds; long polls have their own.
    static let standardSeconds: Double = 30

    let method: HTTPMethod
    let url: String
    var token: AccessToken?
    /// Kept until the call ends; it is most of the memory of a long poll.
    private(set) var body: ByteBuffer?
    var traceparent: Traceparent?
    var pool = ConnectionPool.calls
    /// Limit from the start of the call to the last byte of the answer.
    var seconds = Self.standardSeconds
    /// Limit for the answer's body, in bytes.
    var maxBytes: Int

    init(_ method: HTTPMethod, _ url: String, maxBytes: Int) {
        self.method = method
        self.url = url
        self.maxBytes = maxBytes
    }

    mutating func set(body bytes: [UInt8]) { body = ByteBuffer(bytes: bytes) }
}

/// An endpoint's URL, to which paths and queries are appended; a query that it has already is kept.
struct Endpoint {
    private let base: Substring
    private let query: Substring?

    init(_ url: String) {
        let mark = url.utf8.firstIndex(of: UInt8(ascii: "?"))
        base = url[..<(mark ?? url.endIndex)]
        query = mark.map { url[url.utf8.index(after: $0)...] }
    }

    /// Returns the URL with `path`, which must be valid in a URL, and with `added`, whose values are percent-encoded.
    func url(path: String = "", query added: [(name: String, value: String)] = []) -> String {
        let pairs = added.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }
        let whole = (query.map { [String($0)] } ?? []) + pairs
        return base + path + (whole.isEmpty ? "" : "?" + whole.joined(separator: "&"))
    }
}
