package import Keys

/// Inspects keys that the agent did not make.
package protocol ExternalKeyInspection: Sendable {
    /// Reads a key's data without trying a PIN.
    func sighting(_ uri: KeyURI) async throws -> KeySighting
    /// Reads a key's data, and makes the key sign as a test.
    ///
    /// - Parameter pin: the PIN, for a key that requires one.
    /// - Throws: `CustodyError`; `CancellationError` if the caller stopped waiting. The outcome of the PIN is then
    ///   unknown.
    func inspect(_ uri: KeyURI, pin: PIN?) async throws -> ExternalKey
}

/// The inspection for an agent that uses only its own keys.
package struct NoExternalKeys: ExternalKeyInspection {
    package init() {}

    package func sighting(_ uri: KeyURI) async throws(CustodyError) -> KeySighting { throw .notItsOwn(uri) }

    package func inspect(_ uri: KeyURI, pin: PIN?) async throws(CustodyError) -> ExternalKey { throw .notItsOwn(uri) }
}
