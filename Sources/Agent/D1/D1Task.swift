/// An authenticator at one issuer.
///
/// The core of `oob-agent` runs in this process.
///
/// No state is global: a process can have several tasks, each with a state directory of its own.
public final class D1Task: Sendable {
    private let core: Core

    init(_ components: Components) { core = Core(components) }

    /// Locks the state directory and starts work.
    ///
    /// Does not do more if that is done already.
    ///
    /// - Parameter configParams: at most one `coreConfig`.
    /// - Throws: `.invalidArgument` for invalid settings, `.core` if the state cannot be used.
    public func configure(_ configParams: Set<ConfigParams> = []) async throws(D1Error) {
        try await core.configure(configParams)
    }

    /// Configures as the async form does.
    ///
    /// - Parameters:
    ///   - configParams: at most one `coreConfig`.
    ///   - completion: called once, on the main actor, with `nil` on success.
    public func configure(_ configParams: Set<ConfigParams>, completion: @escaping @MainActor ([D1Error]?) -> Void) {
        core.tasks.start { [core] in
            do throws(D1Error) {
                try await core.configure(configParams)
                await completion(nil)
            } catch {
                await completion([error])
            }
        }
    }

    /// The object that enrolls and approves.
    ///
    /// - Parameter authnDelegate: the reference is weak.
    /// - Returns: `nil` once the task is closed.
    public func d1Authn(_ authnDelegate: any AuthnDelegate) -> D1Authn? {
        core.isClosed ? nil : D1Authn(core, authnDelegate)
    }

    /// Makes the issuer push to this address from now on.
    ///
    /// Call it at each start, as on a phone.
    ///
    /// - Parameter token: the http(s) URL of the app's Web Push receiver. The issuer posts to `/push/` and 43
    ///   characters below it. The app passes each post to ``processNotification(_:)``.
    /// - Throws: `.invalidArgument` if the token is not such a URL; `.core` if the issuer could not be reached yet.
    public func updatePushToken(_ token: String) async throws(D1Error) {
        try await core.call { host in try await PushWork(host: host).update(token) }
    }

    /// Updates the push address as the async form does.
    ///
    /// - Parameters:
    ///   - token: the URL of the app's Web Push receiver.
    ///   - completion: called once, on the main actor, with `nil` on success.
    public func updatePushToken(_ token: String, completion: @escaping @MainActor (D1Error?) -> Void) {
        core.call({ host in try await PushWork(host: host).update(token) }, then: { completion($0.error) })
    }

    /// Processes a push, so that a fetch finds the request.
    ///
    /// - Parameter notification: either a Web Push as it came, with `path` (a string), `headers` (`[String:
    ///   String]`) and `body` (`Data` or `[UInt8]`); or the issuer's message alone, as `message`.
    /// - Returns: the type of the message, under `PushResponse.Key.messageType`.
    public nonisolated(nonsending) func processNotification(
        _ notification: [String: Any]
    ) async throws(D1Error) -> [PushResponse.Key: String] {
        let payload = PushPayload(notification)
        return try await core.call { host in try await PushWork(host: host).process(payload) }
    }

    /// Processes a push as the async form does.
    ///
    /// - Parameters:
    ///   - notification: a Web Push or a message.
    ///   - completion: called once, on the main actor, with an answer or an error.
    public func processNotification(
        _ notification: [String: Any], completion: @escaping @MainActor ([PushResponse.Key: String]?, D1Error?) -> Void
    ) {
        let payload = PushPayload(notification)
        core.call(
            { host in try await PushWork(host: host).process(payload) },
            then: { result in completion(try? result.get(), result.error) })
    }

    /// Cancels all running calls, waits for decisions in progress, and releases the state directory.
    ///
    /// The closures of the components must not wait for it: it waits for them. A later call fails with
    /// `.notInitialized`. A task that is released without `close()` ends as well, but the app cannot wait for its
    /// end.
    public func close() async { await core.close() }
}

extension Result where Failure == D1Error {
    /// The error for a completion handler, or `nil` on success.
    var error: D1Error? {
        if case .failure(let error) = self { error } else { nil }
    }
}
