import Authenticator
import Control
import HTTPTypes
import HummingbirdCore
import Journal
import Logging
import NIOCore
import Records
import TextAndTime

/// Finds the call of a request, and turns each error into a problem.
struct ControlRouter: Sendable {
    let calls: ControlCalls
    let ongoing = OngoingCalls()
    /// Calls that end an enrollment have places of their own.
    let endings = OngoingCalls()
    let access: PeerAccess
    let log: Logger

    /// - Parameter isHead: whether `request` stands for a HEAD. Its answer is the same, but the body is not sent.
    func answer(to request: Request, isHead: Bool, on connection: ControlConnection) async -> Answer {
        do {
            connection.waitForClient()
            try expect(connection.caller, for: .look)
            let routes = ControlRoute.all(at: request.uri.path)
            guard let route = routes.first(where: { $0.method == request.method.rawValue }) else {
                return Self.noCall(routes)
            }
            try expect(connection.caller, for: route.right)
            try route.expectSupported(request)
            let body = try await body(of: request)
            connection.work()
            return try await call(route, for: request, isHead: isHead, body: body, on: connection)
        } catch let tooMany as TooManyCallsError {
            return .problem(tooMany)
        } catch {
            return .problem(problem(for: error))
        }
    }

    private static func noCall(_ routes: [ControlRoute]) -> Answer {
        guard !routes.isEmpty else {
            return .problem(ControlError(.notFound, "there is no such path; /v1/openapi.yaml has all"))
        }
        let allowed = routes.map(\.method)
        var answer = Answer.problem(
            ControlError(.methodNotAllowed, "this path takes \(allowed.joined(separator: " and ")) only"))
        answer.allowed = allowed
        return answer
    }

    private func expect(_ caller: Caller, for right: ControlRight) throws(ControlError) {
        guard caller.right < right else { return }
        access.noteRefusal(caller)
        throw Self.refusal(of: caller, for: right)
    }

    /// The 403 for a caller.
    static func refusal(of caller: Caller, for right: ControlRight) -> ControlError {
        let who = "user id \(caller.peer.uid)"
        let why =
            switch (caller.right, right) {
            case (_, .own): "\(who) may have no key: only root and the agent's own user may"
            case (.look, _):
                "\(who) may look and not decide: the agent's settings socket-group and may-decide say who may"
            default: "\(who) may not use this agent: its settings socket-group, may-look and may-decide say who may"
            }
        return ControlError(.accessDenied, why)
    }

    private func call(
        _ route: ControlRoute, for request: Request, isHead: Bool, body: [UInt8], on connection: ControlConnection
    ) async throws -> Answer {
        let (uri, responses) = (request.uri, calls.responses)
        switch route {
        case .status: return try await responses.make(for: connection, calls.status)
        case .health: return try await responses.makeHealth(for: connection, calls.health)
        case .metrics:
            return try await responses.make(for: connection) {
                Answer(contentType: MetricsText.contentType, body: MetricsText(await calls.agent.figures()).bytes)
            }
        case .doctor: return try await responses.make(for: connection, calls.doctor)
        case .openapi: return Answer(contentType: route.mediaType, body: PackageResources.agent_yaml)
        case .clock: return try .json(ClockView(calls.agent.clock))
        case .enrollments:
            let query = try EnrollmentQuery(uri)
            return try await responses.make(for: connection) { try await calls.enrollments(query) }
        case .personas: return try await responses.make(for: connection) { try await calls.personas() }
        case .fleet:
            let query = try FleetQuery(uri)
            return try await responses.make(for: connection) { try await calls.fleet(query) }
        case .explanation:
            let (id, query) = (uri.id, try RequestQuery(uri))
            return try await responses.makeShort(for: connection) { try await calls.explanation(id, query) }
        case .explanations:
            let query = try RequestQuery(uri)
            return try await responses.make(for: connection) { try await calls.explanations(query) }
        case .enroll, .unenroll, .changePIN, .rotatePush, .fetch, .setPersona, .clearPersona, .reloadRules,
            .advanceClock:
            return try await ongoingCall(route, id: uri.id, body: body, by: connection.caller)
        case .requests:
            let query = try RequestQuery(uri)
            return try await responses.make(for: connection) { try await calls.requests(query) }
        case .request:
            let (id, query) = (uri.id, try RequestQuery(uri))
            return try await responses.makeShort(for: connection) { try await calls.request(id, query) }
        case .exportKey: return try await calls.exportKey(.sealed, of: uri.id, for: connection, isHead: isHead)
        case .exportPublicKey: return try await calls.exportKey(.public, of: uri.id, for: connection, isHead: isHead)
        case .evidence: return try await calls.evidence(uri.id, try RequestQuery(uri), for: connection)
        case .approve, .deny:
            let command = try ControlJSON.decode(body, as: DecideCommand.self)
            return try await calls.decide(
                route == .approve ? .approve : .deny, on: uri.id, with: command, for: connection)
        case .events: return try await calls.events(try EventQuery(request), for: connection)
        case .audit:
            let query = try AuditQuery(uri)
            return try await responses.make(for: connection) { try await calls.auditEntries(query) }
        case .auditHosts: return try await responses.make(for: connection) { try await calls.auditHosts() }
        case .auditKey: return try await responses.makeShort(for: connection, calls.auditKey)
        case .verifyAudit: return try await calls.verifyAudit(for: connection)
        // A HEAD makes no copy, and does not use up the user's hour.
        case .backup where isHead: return Answer(contentType: route.mediaType) { _ in }
        case .backup: return try await calls.backup(for: connection)
        }
    }

    /// Runs a call that goes on to its end if its client hangs up.
    private func ongoingCall(
        _ route: ControlRoute, id: String, body: [UInt8], by caller: Caller
    ) async throws -> Answer {
        let peer = ControlPeer(caller)
        switch route {
        case .unenroll:
            let command = try ControlJSON.decode(body, as: UnenrollCommand.self)
            // This call waits for no other work, so such calls cannot pile up. It must work during any other call.
            if command.local == true, command.force == true {
                return try await calls.unenroll(id, command, by: peer)
            }
            return try await endings.withPlace(for: caller) { try await calls.unenroll(id, command, by: peer) }
        case .changePIN:
            let command = try ControlJSON.decode(body, as: PINChangeCommand.self)
            return try await ongoing.withPlace(for: caller) { try await calls.changePIN(id, command, by: peer) }
        case .rotatePush:
            let command = try ControlJSON.decode(body, as: PushRotateCommand.self)
            return try await ongoing.withPlace(for: caller) {
                try await calls.rotatePush(command, by: peer, isFavoured: caller.isFavoured)
            }
        case .advanceClock:
            let command = try ControlJSON.decode(body, as: ClockCommand.self)
            return try await ongoing.withPlace(for: caller) { try await calls.advanceClock(command, for: peer) }
        case .setPersona:
            let command = try ControlJSON.decode(body, as: PersonaCommand.self)
            return try await ongoing.withPlace(for: caller) { try await calls.setPersona(id, command, by: peer) }
        case .clearPersona:
            return try await ongoing.withPlace(for: caller) { try await calls.clearPersona(id, by: peer) }
        case .reloadRules: return try await ongoing.withPlace(for: caller) { try await calls.reloadRules(by: peer) }
        case .fetch:
            let command = try ControlJSON.decode(body, as: FetchCommand.self)
            return try await ongoing.withPlace(for: caller) { try await calls.fetch(command, for: caller) }
        default:
            let command = try ControlJSON.decode(body, as: EnrollCommand.self)
            return try await ongoing.withPlace(for: caller) { try await calls.enroll(command, by: peer) }
        }
    }

    private func body(of request: Request) async throws -> [UInt8] {
        do {
            return Array(try await request.body.collect(upTo: ControlJSON.maxCommandBytes).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw ControlError(.bodyTooLarge, "the body has more than \(ControlJSON.maxCommandBytes) bytes")
        } catch {
            try Task.checkCancellation()
            throw ControlError(.invalidArgument, "the body ends before it should")
        }
    }

    private func problem(for error: any Error) -> ControlError {
        switch error {
        case let error as ControlError: return error
        case let failure as CommandError: return ControlError(failure)
        case let trouble as StoreError: return ControlError(trouble)
        case is CancellationError, is ControlConnection.HungUpError:
            return ControlError(.failed, "the agent is stopping; nothing more was done")
        default:
            log.error("a control call failed", metadata: ["reason": "\(error)"])
            return ControlError(.storage, "the agent could not do it: \(error)")
        }
    }
}

extension URI {
    /// The value of `{id}`: the third segment, percent-decoded if possible.
    fileprivate var id: String {
        let segment = ControlRoute.segments(of: path).dropFirst(3).first.map(String.init) ?? ""
        return PercentEncoding.decode(segment).flatMap { String(validating: $0, as: UTF8.self) } ?? segment
    }
}
