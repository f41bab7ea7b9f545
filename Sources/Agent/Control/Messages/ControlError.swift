/// An error answer of the agent: RFC 9457 `application/problem+json`.
///
/// It adds the members `code` (the token), `d1Code`, `d1Name`, and `request` if the error is about one.
package struct ControlError: Error, Sendable, Equatable, CustomStringConvertible {
    package static let contentType = "application/problem+json"

    package let token: ErrorToken
    /// The D1 number: the token's own unless another number is given.
    package let code: D1Code
    /// The message for a person: one sentence that says what, where, and what is allowed.
    package let message: String
    package let request: RequestView?

    package init(_ token: ErrorToken, _ message: String, code: D1Code? = nil, request: RequestView? = nil) {
        self.token = token
        self.code = code ?? token.d1Code
        self.message = message
        self.request = request
    }

    package var description: String { message }
}

extension ControlError: Codable {
    private enum CodingKeys: String, CodingKey {
        case type, title, status, detail, code, d1Code, d1Name, request
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        // An unknown token, number or request of a later version must not hide the message.
        let token = ErrorToken(rawValue: try members.decode(String.self, forKey: .code))
        let number = D1Code(rawValue: try members.decode(Int.self, forKey: .d1Code))
        self.init(
            token ?? .failed, try members.decode(String.self, forKey: .detail), code: number ?? .core,
            request: try? members.decodeIfPresent(RequestView.self, forKey: .request))
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode("about:blank", forKey: .type)
        try members.encode(token.title, forKey: .title)
        try members.encode(token.httpStatus, forKey: .status)
        try members.encode(message, forKey: .detail)
        try members.encode(token, forKey: .code)
        try members.encode(code, forKey: .d1Code)
        try members.encode(code.name, forKey: .d1Name)
        try members.encodeIfPresent(request, forKey: .request)
    }
}

/// The error numbers of Thales' D1 SDK, for scripts and apps that know them already.
package enum D1Code: Int, Codable, Sendable, CaseIterable {
    case cancelled = 10001
    case core = 20001
    case invalidArgument = 60002
    case authn = 70001
    case authnNotEnrolled = 70002
    case authnAccessDenied = 70003
    case authnBlocked = 70004
    case authnInvalidEnrollmentToken = 70005
    case authenticatorNotAvailable = 70006

    /// The number's name in error JSON.
    package var name: String { "\(self)" }
}
