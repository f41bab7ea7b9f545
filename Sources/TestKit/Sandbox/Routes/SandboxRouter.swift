import IssuerProtocol
import Logging
import StrictJSON

/// Finds the route of a call, runs its handler, and turns any error into a problem.
package struct SandboxRouter: Sendable {
    private let routes: [Route]
    private let faults: Faults
    private let logger: Logger

    package init(backend: IssuerBackend) {
        routes = ProtocolRoutes.all(of: backend) + SandboxRoutes.all(of: backend)
        faults = backend.faults
        logger = backend.logger
    }

    package func answer(to call: Call) async -> Answer {
        let path = Route.split(call.path)
        let matches = routes.compactMap { route in route.captured(from: path).map { (route, $0) } }
        guard let (route, captured) = matches.first(where: { $0.0.method == call.method }) else {
            return Self.noRoute(allowed: matches.map(\.0.method))
        }
        let incoming = Incoming(call, captured: captured)
        guard let point = route.faultPoint else { return await handle(route, incoming) }
        return await faults.answer(at: point, to: incoming) { await handle(route, $0) }
    }

    private static func noRoute(allowed: [String]) -> Answer {
        guard !allowed.isEmpty else { return .problem(.notFound("there is no such path")) }
        let methods = allowed.joined(separator: ", ")
        return .problem(SandboxError(status: 405, code: nil, detail: "the path takes \(methods)"), allow: methods)
    }

    private func handle(_ route: Route, _ incoming: Incoming) async -> Answer {
        do {
            return try await route.handle(incoming)
        } catch let refusal as SandboxError {
            return .problem(refusal)
        } catch let error as JSONError {
            return .problem(.listed(.invalidRequest, error.description))
        } catch let error as JSONMemberError {
            return .problem(.listed(.invalidRequest, error.description))
        } catch let error as ProtocolError {
            return .problem(.listed(.invalidRequest, error.description))
        } catch is ChangeNotifier.TooManyWaitersError {
            return .problem(.tooManyWaiters)
        } catch {
            let path = route.segments.joined(separator: "/")
            logger.error("a call failed", metadata: ["error": "\(error)", "path": "\(path)"])
            return .problem(SandboxError(status: 500, code: nil, detail: "the sandbox failed; its log says why"))
        }
    }
}
