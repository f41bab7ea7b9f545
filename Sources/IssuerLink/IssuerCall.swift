internal import IssuerProtocol
internal import NIOHTTP1

/// One request to an issuer, and the bounds of its answer.
struct IssuerCall: Sendable {
    /// Which client carries it: requests that an issuer holds back never take a connection from the others.
    enum Lane: Sendable { case calls, polls }

    /// The seconds by which an answer may outlast the wait that was asked for.
    static let pollMargin = 15

    let method: HTTPMethod
    let url: String
    var token: AccessToken?
    var body: [UInt8]?
    var traceparent: Traceparent?
    var lane = Lane.calls
    /// From the start of the call to the last octet of the answer.
    var seconds: Double = 30
    /// The most that is read of the answer's body.
    var maxOctets: Int

    init(_ method: HTTPMethod, _ url: String, maxOctets: Int) {
        self.method = method
        self.url = url
        self.maxOctets = maxOctets
    }
}

/// A `traceparent` that may become a header: W3C Trace Context §3.2.2, version 00.
struct Traceparent: Sendable {
    let text: String

    init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let isOfHexadecimal = parts.joined().allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
        guard isOfHexadecimal, parts.map(\.count) == [2, 32, 16, 2], parts[0].elementsEqual("00".utf8),
            parts[1...2].allSatisfy({ id in !id.allSatisfy { $0 == UInt8(ascii: "0") } })
        else { return nil }
        self.text = text
    }
}
