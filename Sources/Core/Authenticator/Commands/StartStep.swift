/// A step of the start that takes time, for reports of progress.
package enum StartStep: Sendable, Equatable {
    /// The number of enrollments that were searched for values under the previous secret, of all.
    case surveyed(Int, of: Int)
    /// The store is about to be rewritten, which shows no progress.
    case scrubbing
    case scrubbed
    /// The number of keys that were tested, of all.
    case lookedAtKeys(Int, of: Int)
    /// No key can be used, with the reason for the first one.
    case noKeyUsable(String)
    /// A key can be used, or the agent has no enrollment.
    case keyUsable

    /// A line of text for people.
    package var text: String {
        switch self {
        case .surveyed(let done, let total):
            "Looking for what is under the previous secret: \(done) of \(total) enrollments"
        case .scrubbing: "Removing from the database what the change of the secret has written over"
        case .lookedAtKeys(let done, let total): "Looking at the keys: \(done) of \(total)"
        case .noKeyUsable(let why): "Waiting for a key that can be used: \(why)"
        case .scrubbed, .keyUsable: "Starting"
        }
    }

    /// The longest time until the next step, or `nil` if it is not known.
    package var patience: Duration? {
        switch self {
        case .scrubbing: .seconds(1_800)
        case .noKeyUsable: nil
        default: Self.usualPatience
        }
    }

    package static let usualPatience: Duration = .seconds(120)
}
