import HTTPTypes
import Hummingbird
import IssuerProtocol
import NIOCore

/// The sandbox's calls over HTTP.
struct IssuerResponder: HTTPResponder {
    typealias Context = BasicRequestContext

    let switchboard: Switchboard

    func respond(to request: Request, context: Context) async throws -> Response {
        do {
            return await switchboard.answer(to: try await Self.call(request)).response
        } catch is NIOTooManyBytesError {
            let refusal = SandboxRefusal(status: 413, code: .invalidRequest, detail: "a body of more than 1 MiB")
            return Answer.problem(refusal).response
        }
    }

    private static func call(_ request: Request) async throws -> Call {
        var query: [String: String] = [:]
        for (name, value) in request.uri.queryParameters where query[String(name)] == nil {
            query[String(name)] = String(value)
        }
        let body = try await request.body.collect(upTo: Call.maxBody)
        return Call(
            request.method.rawValue, request.uri.path, query: query, authorization: request.headers[.authorization],
            body: Array(body.readableBytesView))
    }
}

extension Answer {
    var response: Response {
        var headers = HTTPFields()
        headers[.cacheControl] = "no-store"
        if let contentType { headers[.contentType] = contentType }
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        if let allow { headers[.allow] = allow }
        if status == 401 { headers[.wwwAuthenticate] = "Bearer" }
        return Response(
            status: .init(integerLiteral: status), headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }
}
