import Control
import HTTPTypes
import HummingbirdCore
import NIOCore

/// An answer of the control API before it is sent.
struct Answer: Sendable {
    /// Writes a body of unknown length.
    typealias Stream = @Sendable (inout any ResponseBodyWriter) async throws -> Void

    let status: Int
    let contentType: String
    let body: ResponseBody
    /// The methods of the path, for the field Allow, if the request used another method (RFC 9110 §10.2.1).
    var allowed: [String] = []
    /// The next page of a list (RFC 8288), as a path with a query.
    var next: String?
    /// The seconds for the field Retry-After (RFC 9110 §10.2.3), or `nil` to leave the field out.
    var retryAfter: Int?

    init(status: Int = 200, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = ResponseBody(byteBuffer: ByteBuffer(bytes: body))
    }

    /// An answer that lasts until `stream` returns.
    ///
    /// An error cuts the connection, so that the client notices it.
    init(contentType: String, stream: @escaping Stream) {
        status = 200
        self.contentType = contentType
        body = ResponseBody { writer in
            try await stream(&writer)
            try await writer.finish(nil)
        }
    }

    static func json(_ message: some Encodable, status: Int = 200) throws(ControlError) -> Answer {
        Answer(status: status, contentType: "application/json", body: try ControlJSON.encode(message))
    }

    /// An answer with a problem (RFC 9457).
    static func problem(_ error: ControlError) -> Answer {
        Answer(status: error.token.httpStatus, contentType: ControlError.contentType, body: problemBody(error))
    }

    /// An answer to too many calls (RFC 6585 §4).
    static func problem(_ tooMany: TooManyCallsError) -> Answer {
        var answer = problem(ControlError(tooMany.token, tooMany.message))
        answer.retryAfter = tooMany.seconds
        return answer
    }

    static func problemBody(_ error: ControlError) -> [UInt8] {
        (try? ControlJSON.encode(error)) ?? Array(#"{"type":"about:blank"}"#.utf8)
    }

    var response: Response {
        var headers: HTTPFields = [.contentType: contentType, .cacheControl: "no-store"]
        if let next, let link = HTTPField.Name("Link") { headers[link] = "<\(next)>; rel=\"next\"" }
        if !allowed.isEmpty { headers[.allow] = allowed.joined(separator: ", ") }
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        return Response(status: .init(code: status), headers: headers, body: body)
    }
}
