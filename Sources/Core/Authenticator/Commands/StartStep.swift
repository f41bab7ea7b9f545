/// What was done of that which a start takes time for.
package enum StartStep: Sendable, Equatable {
    /// So many of so many enrollments were looked at for what is under the previous secret.
    case surveyed(Int, of: Int)
    /// The store is about to be written anew, which shows no progress.
    case scrubbing
    case scrubbed
    /// So many of so many keys were looked at.
    case lookedAtKeys(Int, of: Int)
    /// No key of any enrollment can be used, and why that of the first cannot.
    case noKeyUsable(String)
    /// A key can be used, or there is no enrollment.
    case keyUsable

    /// One line for people.
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

    /// How long it may take until the next one; nil if nobody knows.
    package var patience: Duration? {
        switch self {
        case .scrubbing: .seconds(1_800)
        case .noKeyUsable: nil
        default: Self.usualPatience
        }
    }

    package static let usualPatience: Duration = .seconds(120)
}
