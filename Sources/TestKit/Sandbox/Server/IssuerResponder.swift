import Glibc
import HTTPServing
import HTTPTypes
import Hummingbird
import IssuerProtocol
import NIOCore

/// The HTTP responder for the sandbox's calls and its page.
struct IssuerResponder: Sendable {
    /// The bounds of a request's header: the longest fields are a VAPID token, a trace and an access token.
    private static let header = PatientChannel.HeaderBounds(fieldBytes: 16_384, bytes: 65_536, fields: 128)
    /// Seconds for a whole request, for reading its answer, and until the next request.
    static let patience = 30

    let router: SandboxRouter
    let page: SandboxPage

    /// Returns the channel for connections that are counted in these places.
    func channel(_ places: SourcePlaces, patience: Int = patience) -> PatientChannel {
        PatientChannel(Self.header, seconds: patience, places: places) { request, peer in
            var response = await answer(to: request, on: peer.channel, hasSentAll: peer.waitsForAnswer)
            // A server with a clock sends Date (RFC 9110 §6.6.1).
            response.headers[.date] = Self.date(time(nil))
            return (response, response.status.code < 400)
        }
    }

    /// - Parameter hasSentAll: called once the whole request is read, before it is answered.
    func answer(
        to request: Request, on channel: any Channel, hasSentAll: @Sendable () -> Void = {}
    ) async -> Response {
        if SandboxPage.hasPath(request.uri.path) { return await page.answer(to: request) }
        if let refusal = page.refusal(of: request) { return Answer.problem(refusal).response(on: channel) }
        do {
            let call = try await Self.call(request)
            hasSentAll()
            let answer = await router.answer(to: call)
            // The client does not get the answer returned after this close.
            if answer.transmission == .nothing { try? await channel.close() }
            return answer.response(on: channel)
        } catch is NIOTooManyBytesError {
            let refusal = SandboxError(status: 413, code: .invalidRequest, detail: "a body of more than 1 MiB")
            return Answer.problem(refusal).response(on: channel)
        } catch {
            let refusal = SandboxError(status: 400, code: .invalidRequest, detail: "the body ends before it should")
            return Answer.problem(refusal).response(on: channel)
        }
    }

    /// Formats a time for HTTP; the program sets no locale, so the names of days and months are English.
    private static func date(_ seconds: time_t) -> String {
        var (seconds, parts, text) = unsafe (seconds, tm(), [CChar](repeating: 0, count: 32))
        unsafe gmtime_r(&seconds, &parts)
        let count = unsafe strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func call(_ request: Request) async throws -> Call {
        let body = try await request.body.collect(upTo: Call.maxBody)
        return Call(
            request.method.rawValue, target: request.uri.string, authorization: request.headers[.authorization],
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

/// An error thrown in the middle of a body to close the connection.
private struct CutBodyError: Error {
    /// The white space after an endless body: 8 MiB.
    static let pieces = 128
    static let pieceBytes = 65_536

    /// Closes the output, so that the written bytes go out first; waits for the client until the process stops.
    ///
    /// Closing both directions at once would discard the bytes that the client has not read yet.
    init(_ channel: any Channel) async {
        await withTaskCancellationHandler {
            try? await channel.close(mode: .output)
        } onCancel: {
            channel.close(promise: nil)
        }
    }
}
