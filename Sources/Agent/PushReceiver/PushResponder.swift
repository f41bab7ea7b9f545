import Authenticator
import HTTPServing
import HTTPTypes
import HummingbirdCore
import IssuerProtocol
import NIOCore

/// The responder to pushes.
struct PushResponder: Sendable {
    let reception: PushReception

    /// - Returns: the answer, and whether the push was accepted.
    func answer(to request: Request, from peer: PatientChannel.Peer) async -> (response: Response, isGood: Bool) {
        var known: PushReception.Target?
        do throws(PushAnswer) {
            // The endpoint comes first: a sender without a valid one learns no more, and its body is not read.
            let target = try await reception.target(request.uri.path)
            known = target
            guard request.method == .post else { return (Self.notAllowed, false) }
            let fields = PushFields(request.headers.map { ($0.name.rawName, $0.value) })
            let body = try await Self.body(of: request)
            peer.hasSentAll()
            let location = try await reception.receive(fields, body: body, at: target)
            return (Response(status: .created, headers: [.location: location, .contentLength: "0"]), true)
        } catch {
            reception.recordRejection(error, from: peer.address, at: known)
            return (Self.response(error), false)
        }
    }

    private static func body(of request: Request) async throws(PushAnswer) -> [UInt8] {
        // Do not read a body that is announced as too long.
        if let length = request.headers[.contentLength].flatMap(Int.init), length > PushInbox.maxBytes {
            throw .tooLarge
        }
        do {
            return Array(try await request.body.collect(upTo: PushInbox.maxBytes).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw .tooLarge
        } catch {
            throw .cutShort
        }
    }

    private static var notAllowed: Response {
        Response(status: .methodNotAllowed, headers: [.allow: "POST", .contentLength: "0"])
    }

    private static func response(_ answer: PushAnswer) -> Response {
        var headers: HTTPFields = [.cacheControl: "no-store"]
        for (name, value) in answer.fields {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return Response(
            status: .init(code: answer.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }
}
