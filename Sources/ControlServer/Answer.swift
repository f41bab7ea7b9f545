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
        let body = (try? ControlJSON.encode(error)) ?? Array(#"{"type":"about:blank"}"#.utf8)
        return Answer(status: error.token.httpStatus, contentType: ControlError.contentType, body: body)
    }

    var response: Response {
        Response(
            status: .init(code: status), headers: [.contentType: contentType, .cacheControl: "no-store"],
            body: body)
    }
}
