import Authenticator
import Control
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore

/// Finds the call that a request means, and makes a problem of whatever goes wrong.
struct ControlRouter: Sendable {
    let calls: ControlCalls
    let log: Logger

    func answer(to request: Request) async -> Answer {
        do {
            let path = request.uri.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            guard path.first == "v1" else { throw ControlError(.notFound, "there is no such path; all begin with /v1") }
            let body = try await body(of: request)
            return try await call(request.method, Array(path.dropFirst()).map(String.init), request.uri, body)
        } catch {
            return .problem(problem(for: error))
        }
    }

    private func call(
        _ method: HTTPRequest.Method, _ path: [String], _ uri: URI, _ body: [UInt8]
    ) async throws -> Answer {
        switch (method, path.count, path.first, path.last) {
        case (.get, 1, "status", _): return try await calls.status()
        case (.get, 1, "health", _): return try await calls.health()
        case (.get, 1, "enrollments", _): return try await calls.enrollments()
        case (.post, 1, "enrollments", _):
            return try await calls.enroll(try ControlJSON.decode(body, as: EnrollCommand.self))
        case (.delete, 2, "enrollments", let id?):
            return try await calls.unenroll(id, try ControlJSON.decode(body, as: UnenrollCommand.self))
        case (.post, 1, "fetch", _): return try await calls.fetch(try ControlJSON.decode(body, as: FetchCommand.self))
        case (.get, 1, "requests", _): return try await calls.requests(try RequestQuery(uri))
        case (.get, 2, "requests", let id?): return try await calls.request(id, try RequestQuery(uri))
        case (.post, 3, "requests", "approve"), (.post, 3, "requests", "deny"):
            let decision = path[2] == "approve" ? Decision.approve : .deny
            return try await calls.decide(decision, path[1], try ControlJSON.decode(body, as: DecideCommand.self))
        default: throw ControlError(.notFound, "there is no such call")
        }
    }

    private func body(of request: Request) async throws -> [UInt8] {
        do {
            return Array(try await request.body.collect(upTo: ControlJSON.maxCommandOctets).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw ControlError(.invalidArgument, "the body has more than \(ControlJSON.maxCommandOctets) octets")
        }
    }

    private func problem(for error: any Error) -> ControlError {
        switch error {
        case let error as ControlError: return error
        case let failure as CommandFailure: return ControlError(failure)
        case is CancellationError: return ControlError(.failed, "the agent is stopping; nothing more was done")
        default:
            log.error("a control call failed", metadata: ["reason": "\(error)"])
            return ControlError(.storage, "the agent could not do it: \(error)")
        }
    }
}

/// Which requests are meant.
struct RequestQuery {
    /// How many rows there are unless said otherwise.
    static let usualLimit = 100
    static let mostRows = 1_000

    let all: Bool
    let limit: Int
    let enrollment: String?

    init(_ uri: URI) throws(ControlError) {
        let members = uri.queryParameters
        switch members["all"].map(String.init) {
        case nil, "false": all = false
        case "true": all = true
        default: throw ControlError(.invalidArgument, "all: must be true or false")
        }
        let text = members["limit"].map(String.init) ?? String(Self.usualLimit)
        guard let number = Int(text), (1...Self.mostRows).contains(number) else {
            throw ControlError(.invalidArgument, "limit: must be a whole number of 1 to \(Self.mostRows)")
        }
        limit = number
        enrollment = members["enrollment"].map(String.init)
    }
}
