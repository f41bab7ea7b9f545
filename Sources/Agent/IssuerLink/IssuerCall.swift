internal import IssuerProtocol
internal import NIOCore
internal import NIOHTTP1
import TextAndTime

/// One request to an issuer, and the bounds of its answer.
struct IssuerCall: Sendable {
    /// Which client carries it: requests that an issuer holds back never take a connection from the others.
    enum ConnectionPool: Sendable { case calls, polls }

    /// The seconds by which an answer may outlast the wait that was asked for.
    static let pollMargin = 15

    /// How long an answer may take, in seconds, unless it is a long poll's.
    static let standardSeconds: Double = 30

    let method: HTTPMethod
    let url: String
    var token: AccessToken?
    /// Held until the call is over: of a long poll that is most of what it takes in memory.
    private(set) var body: ByteBuffer?
    var traceparent: Traceparent?
    var pool = ConnectionPool.calls
    /// From the start of the call to the last byte of the answer.
    var seconds = Self.standardSeconds
    /// The most that is read of the answer's body.
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

    /// `path` must be fit for a URL; the values of `added` are encoded.
    func url(path: String = "", query added: [(name: String, value: String)] = []) -> String {
        let pairs = added.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }
        let whole = (query.map { [String($0)] } ?? []) + pairs
        return base + path + (whole.isEmpty ? "" : "?" + whole.joined(separator: "&"))
    }
}
