/// How long a client waits for the agent's answer, in seconds: longer than the agent may take for it.
package enum ControlTimeout {
    /// What is read from the agent's own store.
    package static let read = 15
    /// The agent repeats an enrollment whose answer was lost for 10 minutes.
    static let enroll = 660
    /// The agent waits for its outbox, and then for the issuer.
    static let unenroll = 660
    /// Approvals of the same enrollment come first, and a PIN takes a tenth of a second and more.
    static let pinChange = 60
    /// A large database is copied before the first byte comes.
    static let backup = 86_400
    /// Ten million entries, and some.
    static let verify = 3_600
    /// Events are waited for as long as the client lives.
    static let events = 365 * 86_400
    /// One request to each issuer, side by side, 30 s at most.
    static let fetch = 60

    /// The seconds for which a client waits longer than the agent may take: to connect, and for the answer to come.
    package static let margin = 10

    /// The wait for the request, the decision, the wait for the issuer, and the margin.
    package static func decide(_ command: DecideCommand) -> Int {
        command.secondsToDecide + (command.deliveryTimeout ?? DecideCommand.defaultDeliveryTimeout) + margin
    }
}
