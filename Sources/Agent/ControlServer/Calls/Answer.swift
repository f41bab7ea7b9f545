import Control
import HTTPTypes
import HummingbirdCore
import NIOCore

/// An answer of the control API before it goes out.
struct Answer: Sendable {
    /// Writes a body whose length is not known before.
    typealias Stream = @Sendable (inout any ResponseBodyWriter) async throws -> Void

    let status: Int
    let contentType: String
    let body: ResponseBody
    /// The methods that a path has, if the one that was asked for is not one of them (RFC 9110 §10.2.1).
    var allowed: [String] = []
    /// Where the next page of a list is (RFC 8288), as a path with a query.
    var next: String?
    /// When it is worth another try, in seconds (RFC 9110 §10.2.3); nil: the answer does not say.
    var retryAfter: Int?

    init(status: Int = 200, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = ResponseBody(byteBuffer: ByteBuffer(bytes: body))
    }

    /// An answer that goes on until `stream` returns; one that throws cuts the connection, so that the client knows.
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

    /// RFC 9457.
    static func problem(_ error: ControlError) -> Answer {
        Answer(status: error.token.httpStatus, contentType: ControlError.contentType, body: problemBody(error))
    }

    /// RFC 6585 §4.
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
