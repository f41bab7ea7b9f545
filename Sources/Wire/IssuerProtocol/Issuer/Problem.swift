package import StrictJSON

/// The meaning of an issuer's error: the member `code` of a problem (RFC 9457).
///
/// The raw values are sent.
package enum ProblemCode: String, Sendable, CaseIterable {
    case invalidRequest = "invalid_request"
    case invalidEnrollmentCode = "invalid_enrollment_code"
    case invalidRegistration = "invalid_registration"
    case ceremonyExpired = "ceremony_expired"
    case invalidToken = "invalid_token"
    case unknownCursor = "unknown_cursor"
    case unknownRequest = "unknown_request"
    case alreadyDecided = "already_decided"
    case expired
    case cancelled
    case invalidAssertion = "invalid_assertion"
    case unknownAuthenticator = "unknown_authenticator"

    /// The HTTP status that is sent with the code.
    package var status: Int {
        switch self {
        case .invalidRequest: 400
        case .invalidToken: 401
        case .invalidEnrollmentCode: 403
        case .unknownRequest, .unknownAuthenticator: 404
        case .alreadyDecided: 409
        case .ceremonyExpired, .unknownCursor, .expired, .cancelled: 410
        case .invalidRegistration, .invalidAssertion: 422
        }
    }
}

/// A problem (RFC 9457).
///
/// Only a problem with a code of this protocol ends an operation. So a reader gets `nil` for anything else, such as a
/// proxy's page or a stray 410 of a bad deployment. A server that writes a problem may leave the code out.
package struct Problem: Error, Equatable, Sendable {
    package static let contentType = "application/problem+json"

    /// The member `status`, or the code's own status if it is absent.
    ///
    /// It is advisory (RFC 9457 §3.1.2).
    package let status: Int
    /// The code.
    ///
    /// A problem that was read always has one.
    package let code: ProblemCode?
    /// Text from the peer.
    ///
    /// Escape it before printing it.
    package let title: String?
    package let detail: String?

    package init(_ code: ProblemCode, title: String? = nil, detail: String? = nil) {
        self.init(status: code.status, code: code, title: title, detail: detail)
    }

    package init(status: Int, code: ProblemCode?, title: String? = nil, detail: String? = nil) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
    }

    /// Reads a problem.
    ///
    /// Returns `nil` for another content type, invalid JSON, or a missing or unlisted code.
    ///
    /// The body must be a strict JSON object. Other members are ignored if they have another type (RFC 9457 §3.1).
    package init?(bytes: [UInt8], contentType: String?) {
        guard let contentType, Self.isProblem(contentType),
            let object = try? JSONReader.object(bytes, limits: ProtocolError.bodyLimits),
            case .string(let token)? = object["code"], let code = ProblemCode(exactly: token)
        else { return nil }
        self.init(
            status: (try? object.integer("status", in: 100...599)).map { Int($0) } ?? code.status, code: code,
            title: try? object.string("title", bytes: 1...1_024),
            detail: try? object.string("detail", bytes: 1...4_096))
    }

    package var bytes: [UInt8] { json.serialized() }

    package var json: JSONObject {
        var object: JSONObject = ["type": "about:blank", "status": .integer(Int64(status))]
        object["title"] = title.map { .string($0) }
        object["detail"] = detail.map { .string($0) }
        object["code"] = code.map { .string($0.rawValue) }
        return object
    }

    /// Returns whether a content type is a problem's: case does not count, nor do parameters (RFC 9110 §8.3.1).
    private static func isProblem(_ value: String) -> Bool {
        let type = value.prefix { $0 != ";" }.trimmingBlanks().lowercased()
        return type.utf8.elementsEqual(contentType.utf8)
    }
}

extension Substring {
    fileprivate func trimmingBlanks() -> Substring {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var rest = drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }
}
