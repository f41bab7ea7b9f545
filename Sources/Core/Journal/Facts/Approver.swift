package import Logging
import StrictJSON

/// Who decided, and by which means.
package enum Approver: Sendable, Equatable {
    /// A command on the control socket.
    ///
    /// - shownTextDigest: the digest of the text that it says it has shown to a person, base64url; nil if it showed
    ///   nothing to anyone.
    case command(ControlPeer, shownTextDigest: String?)
    /// The app that the core runs in.
    case app(AppProcess)
    /// A persona of a `test` enrollment, or a rule, which is known by its name: nobody was shown anything.
    case script(persona: String, rule: String?)
}

/// The process at the other end of the control socket, as the kernel named it when it connected.
package struct ControlPeer: Sendable, Equatable {
    package let uid: UInt32
    package let gid: UInt32
    package let pid: Int32
    /// The name that the process gave itself, fit for a terminal; a hint, for anyone can take any name.
    ///
    /// Empty if the agent may not see it, or the process is gone.
    package let process: String

    package init(uid: UInt32, gid: UInt32, pid: Int32, process: String) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        self.process = process
    }
}

extension ControlPeer {
    /// The members that an entry has about it.
    var journaled: JSONObject {
        [
            "uid": .integer(Int64(uid)), "gid": .integer(Int64(gid)), "pid": .integer(Int64(pid)),
            "process": .string(process),
        ]
    }
}

extension ControlPeer {
    /// What a line of the log has about it: no name of a process if the agent may not see it.
    package func logged(_ more: Logger.Metadata) -> Logger.Metadata {
        var own: Logger.Metadata = ["uid": "\(uid)", "gid": "\(gid)", "pid": "\(pid)"]
        if !process.isEmpty { own["process"] = "\(process)" }
        return own.merging(more) { mine, _ in mine }
    }
}

extension Approver {
    /// The members that an entry has about it.
    ///
    /// - Parameter text: the digest of the request's text as it is.
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

    /// What whoever decided had seen.
    private enum Shown: String {
        /// The text as it was when it was decided.
        case text
        /// Another text, such as the one from before a conflict was marked.
        case otherText
        case nothing
    }

    private static func shown(_ digest: String?, _ text: String?) -> Shown {
        guard let digest else { return .nothing }
        return digest == text ? .text : .otherText
    }
}

/// The process that the core itself runs in, if that is an app's.
package struct AppProcess: Sendable, Equatable {
    package let uid: UInt32
    package let pid: Int32
    /// Its name, fit for a terminal.
    package let process: String

    package init(uid: UInt32, pid: Int32, process: String) {
        self.uid = uid
        self.pid = pid
        self.process = process
    }

    /// The members that an entry has about it.
    ///
    /// An app is given the transaction's members, not the agent's text.
    var journaled: JSONObject {
        [
            "by": "app", "uid": .integer(Int64(uid)), "pid": .integer(Int64(pid)), "process": .string(process),
            "shown": "nothing",
        ]
    }
}
