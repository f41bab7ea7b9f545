package import IssuerProtocol
import Synchronization

/// Where issuers push to, which can be learned late, and change: what every endpoint begins with.
package final class PushAddress: Sendable {
    /// What an endpoint is before its token, with the slash.
    private let text = Mutex<String?>(nil)

    /// Nobody can push yet.
    package init() {}

    var base: String? { text.withLock(\.self) }

    /// - Parameter url: what issuers see of the receiver, such as `https://push.bank.example`.
    /// - Throws: where no endpoint can begin with it; then it is as it was.
    package func set(_ url: String) throws(ProtocolError) {
        let whole = url.hasSuffix("/") ? url : url + "/"
        // Whatever is appended, its host and port are these.
        _ = try PushEndpoint(whole)
        guard !url.utf8.contains(UInt8(ascii: "?")) else {
            throw ProtocolError(what: "must have no query", where: "push endpoint")
        }
        let base = whole + PushToken.path.dropFirst()
        _ = try PushEndpoint(base + String(repeating: "A", count: PushToken.characters))
        text.withLock { $0 = base }
    }
}
