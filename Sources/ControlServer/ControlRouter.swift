import Authenticator
import Control
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore

/// Finds the call that a request means, and makes a problem of whatever goes wrong.
struct ControlRouter: Sendable {
    let calls: ControlCalls
    let turns = Turns()
    let ongoing = OngoingCalls()
    let maxBodyOctets: Int
    let log: Logger

    func answer(to request: Request, on connection: ControlConnection) async -> Answer {
        do {
            connection.waitForClient()
            let path = request.uri.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            guard path.first == "v1" else { throw ControlError(.notFound, "there is no such path; all begin with /v1") }
            let body = try await body(of: request)
            connection.work()
            let names = path.dropFirst().map(String.init)
            return try await call(request, names, body, connection)
        } catch {
            return .problem(problem(for: error))
        }
    }

    private func call(
        _ request: Request, _ path: [String], _ body: [UInt8], _ connection: ControlConnection
    ) async throws -> Answer {
        let uri = request.uri
        switch (request.method, path.count, path.first, path.last) {
        case (.get, 1, "status", _): return try await turns.make(for: connection, calls.status)
        case (.get, 1, "health", _): return try await turns.make(for: connection, calls.health)
        case (.get, 1, "doctor", _): return try await turns.make(for: connection, calls.doctor)
        case (.get, 1, "enrollments", _): return try await turns.make(for: connection, calls.enrollments)
        case (.post, 1, "enrollments", _), (.delete, 2, "enrollments", _), (.post, 3, "enrollments", "pin"),
            (.post, 1, "fetch", _), (.post, 2, "push", "rotate"):
            return try await ongoing.run(for: connection.peer) { try await ongoingCall(path, body) }
        case (.get, 1, "requests", _):
            let query = try RequestQuery(uri)
            return try await turns.make(for: connection) { try await calls.requests(query) }
        case (.get, 2, "requests", let id?): return try await calls.request(id, try RequestQuery(uri))
        case (.get, 3, "requests", "evidence"):
            return try await calls.evidence(path[1], try RequestQuery(uri), for: connection)
        case (.post, 3, "requests", "approve"), (.post, 3, "requests", "deny"):
            let decision = path[2] == "approve" ? Decision.approve : .deny
            let command = try ControlJSON.decode(body, as: DecideCommand.self)
            return try await calls.decide(decision, path[1], command, for: connection)
        case (.get, 1, "backup", _): return try await calls.backup(for: connection)
        default: return try await journalCall(request, path, connection)
        }
    }

    /// What goes on to its end when its client hangs up.
    private func ongoingCall(_ path: [String], _ body: [UInt8]) async throws -> Answer {
        switch (path.first, path.dropFirst().first) {
        case ("push", _): try await calls.rotatePush(try ControlJSON.decode(body, as: PushRotateCommand.self))
        case ("fetch", _): try await calls.fetch(try ControlJSON.decode(body, as: FetchCommand.self))
        case (_, let id?) where path.count == 3:
            try await calls.changePIN(id, try ControlJSON.decode(body, as: PINChangeCommand.self))
        case (_, let id?): try await calls.unenroll(id, try ControlJSON.decode(body, as: UnenrollCommand.self))
        case (_, nil): try await calls.enroll(try ControlJSON.decode(body, as: EnrollCommand.self))
        }
    }

    private func journalCall(
        _ request: Request, _ path: [String], _ connection: ControlConnection
    ) async throws -> Answer {
        switch (request.method, path) {
        case (.get, ["audit"]):
            let query = try AuditQuery(request.uri)
            return try await turns.make(for: connection) { try await calls.auditEntries(query) }
        case (.get, ["audit", "key"]): return try await calls.auditKey()
        case (.get, ["audit", "verify"]): return try await calls.verifyAudit(for: connection)
        case (.get, ["events"]): return try await calls.events(try EventQuery(request), for: connection)
        default: throw ControlError(.notFound, "there is no such call")
        }
    }

    private func body(of request: Request) async throws -> [UInt8] {
        do {
            return Array(try await request.body.collect(upTo: maxBodyOctets).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw ControlError(.invalidArgument, "the body has more than \(maxBodyOctets) octets")
        } catch {
            try Task.checkCancellation()
            throw ControlError(.invalidArgument, "the body ends before it should")
        }
    }

    private func problem(for error: any Error) -> ControlError {
        switch error {
        case let error as ControlError: return error
        case let failure as CommandFailure: return ControlError(failure)
        case let trouble as BookTrouble: return ControlError(trouble)
        case is CancellationError, is ControlConnection.HungUp:
            return ControlError(.failed, "the agent is stopping; nothing more was done")
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
