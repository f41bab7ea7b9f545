/// The host whose turn it is to change the secret, among the hosts that share the store.
package enum SecretChangeTurn: Sendable, Equatable {
    case ours
    /// Another host, which runs.
    case another
    /// No host: these hosts run, and seal under the previous secret until they restart.
    case waits(for: [String])
    /// The change is complete.
    case over
}
