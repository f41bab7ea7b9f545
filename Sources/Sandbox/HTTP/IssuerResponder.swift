import HTTPTypes
import Hummingbird
import IssuerProtocol
import NIOCore

/// The sandbox's calls over HTTP, and its page.
struct IssuerResponder: HTTPResponder {
    /// The connection that a call came on.
    struct Context: InitializableFromSource {
        let channel: any Channel

        init(source: ApplicationRequestContextSource) { channel = source.channel }
    }

    let router: SandboxRouter
    let page: SandboxPage

    func respond(to request: Request, context: Context) async throws -> Response {
        if SandboxPage.hasPath(request.uri.path) { return await page.answer(to: request) }
        if let refusal = page.refusal(of: request) { return Answer.problem(refusal).response(on: context.channel) }
        do {
            let answer = await router.answer(to: try await Self.call(request))
            // What is answered after that finds nobody.
            if answer.transmission == .nothing { try? await context.channel.close() }
            return answer.response(on: context.channel)
        } catch is NIOTooManyBytesError {
            let refusal = SandboxError(status: 413, code: .invalidRequest, detail: "a body of more than 1 MiB")
            return Answer.problem(refusal).response(on: context.channel)
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
            traceparent: HTTPField.Name("traceparent").flatMap { request.headers[$0] },
            body: Array(body.readableBytesView))
    }
}

extension Answer {
    func response(on channel: any Channel) -> Response {
        var headers = HTTPFields()
        headers[.cacheControl] = "no-store"
        if let contentType { headers[.contentType] = contentType }
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        if let allow { headers[.allow] = allow }
        if status == 401 { headers[.wwwAuthenticate] = "Bearer" }
        return Response(status: .init(integerLiteral: status), headers: headers, body: outgoing(on: channel))
    }

    private func outgoing(on channel: any Channel) -> ResponseBody {
        switch transmission {
        case .whole, .nothing:
            ResponseBody(byteBuffer: ByteBuffer(bytes: body))
        case .half:
            ResponseBody(contentLength: body.count) { writer in
                try await writer.write(ByteBuffer(bytes: body.prefix(body.count / 2)))
                throw await CutBodyError(channel)
            }
        case .endless:
            ResponseBody { writer in
                try await writer.write(ByteBuffer(bytes: body))
                let piece = ByteBuffer(repeating: UInt8(ascii: " "), count: CutBodyError.pieceBytes)
                for _ in 0..<CutBodyError.pieces { try await writer.write(piece) }
                throw await CutBodyError(channel)
            }
        }
    }
}

/// Thrown in the middle of a body, it closes the connection.
private struct CutBodyError: Error {
    /// White space after a body without an end: 8 MiB.
    static let pieces = 128
    static let pieceBytes = 65_536

    /// Lets what was written go out first, for which a client is waited for until the process is to stop.
    ///
    /// Closing both ways at once would forget what the client has not taken yet.
    init(_ channel: any Channel) async {
        await withTaskCancellationHandler {
            try? await channel.close(mode: .output)
        } onCancel: {
            channel.close(promise: nil)
        }
    }
}
