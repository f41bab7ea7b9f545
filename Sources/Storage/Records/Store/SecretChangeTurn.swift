/// The host whose turn a change of the secret is, among those that share the store.
package enum SecretChangeTurn: Sendable, Equatable {
    case ours
    /// Another host's, which runs.
    case another
    /// Nobody's: these hosts run, and seal under the previous secret until they start again.
    case waits(for: [String])
    /// It is done.
    case over
}
