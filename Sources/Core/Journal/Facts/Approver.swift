package import Logging
import StrictJSON

/// The source of a decision: a command, the app, a persona or a rule.
package enum Approver: Sendable, Equatable {
    /// A command on the control socket.
    ///
    /// - shownTextDigest: the digest of the text that the client says it showed to a person, base64url, or `nil` if it
    ///   showed none.
    case command(ControlPeer, shownTextDigest: String?)
    /// The app that the core runs in.
    case app(AppProcess)
    /// A persona of a `test` enrollment, or a rule identified by its name; no person saw a text.
    case script(persona: String, rule: String?)
}

/// The peer on the control socket, with its credentials as of the connection (SO_PEERCRED).
package struct ControlPeer: Sendable, Equatable {
    package let uid: UInt32
    package let gid: UInt32
    package let pid: Int32
    /// The name that the process gave itself, fit for a terminal; a hint, because any name is possible.
    ///
    /// Empty if the agent may not read it, or the process is gone.
    package let process: String

    package init(uid: UInt32, gid: UInt32, pid: Int32, process: String) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        self.process = process
    }
}

extension ControlPeer {
    /// The members of an entry about the peer.
    var journaled: JSONObject {
        [
            "uid": .integer(Int64(uid)), "gid": .integer(Int64(gid)), "pid": .integer(Int64(pid)),
            "process": .string(process),
        ]
    }
}

extension ControlPeer {
    /// Returns the metadata of a log line about the peer; no process name if the agent may not read it.
    package func logged(_ more: Logger.Metadata) -> Logger.Metadata {
        var own: Logger.Metadata = ["uid": "\(uid)", "gid": "\(gid)", "pid": "\(pid)"]
        if !process.isEmpty { own["process"] = "\(process)" }
        return own.merging(more) { mine, _ in mine }
    }
}

extension Approver {
    /// Returns the members of an entry about the approver.
    ///
    /// - Parameter text: the digest of the request's present text.
    func journaled(text: String?) -> JSONObject {
        switch self {
        case .command(let peer, let shown):
            JSONObject(
                [.init(name: "by", value: "command")] + peer.journaled.members
                    + [.init(name: "shown", value: .string(Self.shown(shown, text).rawValue))])
        case .app(let app): app.journaled
        case .script(let persona, let rule):
            (["by": rule == nil ? "persona" : "rule", "persona": .string(persona), "shown": "nothing"] as JSONObject)
                .adding("rule", rule)
        }
    }

    /// The text that the approver had seen.
    private enum Shown: String {
        /// The request's text at the time of the decision.
        case text
        /// Another text, such as the text before a conflict was marked.
        case otherText
        case nothing
    }

    private static func shown(_ digest: String?, _ text: String?) -> Shown {
        guard let digest else { return .nothing }
        return digest == text ? .text : .otherText
    }
}

/// The process of the app that the core runs in.
package struct AppProcess: Sendable, Equatable {
    package let uid: UInt32
    package let pid: Int32
    /// The name of the process, fit for a terminal.
    package let process: String

    package init(uid: UInt32, pid: Int32, process: String) {
        self.uid = uid
        self.pid = pid
        self.process = process
    }

    /// The members of an entry about the app.
    ///
    /// An app receives the transaction's members, not the agent's text.
    var journaled: JSONObject {
        [
            "by": "app", "uid": .integer(Int64(uid)), "pid": .integer(Int64(pid)), "process": .string(process),
            "shown": "nothing",
        ]
    }
}
