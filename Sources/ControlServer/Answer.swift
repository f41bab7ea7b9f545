import Control
import HTTPTypes
import HummingbirdCore
import NIOCore

/// An answer of the control API before it goes out.
struct Answer: Sendable {
    let status: Int
    let contentType: String
    let body: [UInt8]

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
            body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }
}
