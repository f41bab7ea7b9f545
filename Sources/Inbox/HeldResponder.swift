import Hummingbird
import NIOCore
import Synchronization

/// The responder of a server whose port was not known when it was made.
final class ResponderHolder: Sendable {
    private let responder = Mutex<InboxResponder?>(nil)

    func set(_ responder: InboxResponder) { self.responder.withLock { $0 = responder } }

    func get() -> InboxResponder? { responder.withLock { $0 } }
}

struct HeldResponder: HTTPResponder {
    struct Context: InitializableFromSource {
        init(source: ApplicationRequestContextSource) {}
    }

    let holder: ResponderHolder

    func respond(to request: Request, context: Context) async throws -> Response {
        guard let responder = holder.get() else { return Response(status: .serviceUnavailable) }
        return await responder.answer(to: request)
    }
}
