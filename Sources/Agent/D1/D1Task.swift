/// One authenticator at one issuer, run by the same core as `oob-agent`, in this process.
///
/// Nothing is global: a process can have several, each with a state directory of its own.
public final class D1Task: Sendable {
    private let core: Core

    init(_ components: Components) { core = Core(components) }

    /// Takes the state directory and begins to work; if that is done already nothing more happens.
    ///
    /// - Parameter configParams: at most one `coreConfig`.
    /// - Throws: `.invalidArgument` for settings out of order, `.core` if the state cannot be used.
    public func configure(_ configParams: Set<ConfigParams> = []) async throws(D1Error) {
        try await core.configure(configParams)
    }

    /// As the async form.
    ///
    /// - Parameters:
    ///   - configParams: at most one `coreConfig`.
    ///   - completion: called once, on the main actor; nil if nothing went wrong.
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

    /// What enrolls and approves.
    ///
    /// - Parameter authnDelegate: held weakly.
    /// - Returns: nil once the task is closed.
    public func d1Authn(_ authnDelegate: any AuthnDelegate) -> D1Authn? {
        core.isClosed ? nil : D1Authn(core, authnDelegate)
    }

    /// Has the issuer push to this address from now on; to be called at each start, as on a phone.
    ///
    /// - Parameter token: the http(s) URL of whatever receives Web Push for this app. The issuer posts to
    ///   `/push/` and 43 characters below it, and what it posts is for ``processNotification(_:)``.
    /// - Throws: `.invalidArgument` for what is no such URL; `.core` if the issuer could not be told yet.
    public func updatePushToken(_ token: String) async throws(D1Error) {
        try await core.call { host in try await PushWork(host: host).update(token) }
    }

    /// As the async form.
    ///
    /// - Parameters:
    ///   - token: the URL of whatever receives Web Push for this app.
    ///   - completion: called once, on the main actor; nil if nothing went wrong.
    public func updatePushToken(_ token: String, completion: @escaping @MainActor (D1Error?) -> Void) {
        core.call({ host in try await PushWork(host: host).update(token) }, then: { completion($0.error) })
    }

    /// Takes in what was pushed, so that a fetch finds it.
    ///
    /// - Parameter notification: either a Web Push as it came, with `path` (a string), `headers` (`[String: String]`)
    ///   and `body` (`Data` or `[UInt8]`); or the issuer's message alone, as `message`.
    /// - Returns: under `PushResponse.Key.messageType` what it was.
    public nonisolated(nonsending) func processNotification(
        _ notification: [String: Any]
    ) async throws(D1Error) -> [PushResponse.Key: String] {
        let payload = PushPayload(notification)
        return try await core.call { host in try await PushWork(host: host).process(payload) }
    }

    /// As the async form.
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

    /// Ends all calls that are under way, waits for decisions that are being made, and gives the state directory back.
    ///
    /// The closures of the components must not wait for it, for it waits for them. A call that comes later ends with
    /// `.notInitialized`. A task that is let go without it ends as well, but nobody
    /// can wait for that.
    public func close() async { await core.close() }
}

extension Result where Failure == D1Error {
    /// What a completion handler is told; nil for a success.
    var error: D1Error? {
        if case .failure(let error) = self { error } else { nil }
    }
}
