package import HTTPTypes
package import HummingbirdCore
import NIOCore

/// Answers to a browser, with the common header fields.
package enum PageAnswer {
    package static let svg = "image/svg+xml"

    package static func page(_ html: String, _ status: HTTPResponse.Status = .ok) -> Response {
        text(html, "text/html; charset=utf-8", status)
    }

    package static func text(_ text: String, _ type: String, _ status: HTTPResponse.Status = .ok) -> Response {
        file(Array(text.utf8), type, status)
    }

    package static func file(_ bytes: [UInt8], _ type: String, _ status: HTTPResponse.Status = .ok) -> Response {
        var fields = PageGuard.fields
        fields[.contentType] = type
        return Response(status: status, headers: fields, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    package static func redirect(to path: String) -> Response {
        var fields = PageGuard.fields
        fields[.location] = path
        return Response(status: .seeOther, headers: fields)
    }

    /// Returns an SVG picture that may use its own style and load nothing else.
    package static func drawing(_ svg: [UInt8]) -> Response {
        var response = file(svg, Self.svg)
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
        return response
    }
}
