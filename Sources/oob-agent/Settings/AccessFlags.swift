import ArgumentParser

/// The flags of who may use the control socket, as text.
struct AccessFlags: ParsableArguments {
    @Option(name: .customLong("socket-group"), help: ArgumentHelp(.socketGroup, "group"))
    var group: String?

    @Option(name: .customLong("may-look"), help: ArgumentHelp(.mayLook, "list"))
    var mayLook: String?

    @Option(name: .customLong("may-decide"), help: ArgumentHelp(.mayDecide, "list"))
    var mayDecide: String?

    /// Nil for what was not given, and for a setting that is none of these.
    func value(of setting: Setting) -> String? {
        switch setting {
        case .socketGroup: group
        case .mayLook: mayLook
        case .mayDecide: mayDecide
        default: nil
        }
    }
}
