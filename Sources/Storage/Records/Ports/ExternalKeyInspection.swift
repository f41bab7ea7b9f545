package import Keys

/// Finds keys that the agent did not make.
package protocol ExternalKeyInspection: Sendable {
    /// Looks at a key, and tries no PIN.
    func sighting(_ uri: KeyURI) async throws -> KeySighting
    /// Looks at a key, and lets it show that it signs.
    ///
    /// - Parameter pin: for a key that takes one.
    /// - Throws: `CustodyError`; `CancellationError` if nobody waited: what the key did with the PIN is not known then.
    func inspect(_ uri: KeyURI, pin: PIN?) async throws -> ExternalKey
}

/// For an agent whose keys are all its own.
package struct NoExternalKeys: ExternalKeyInspection {
    package init() {}

    package func sighting(_ uri: KeyURI) async throws(CustodyError) -> KeySighting { throw .notItsOwn(uri) }

    package func inspect(_ uri: KeyURI, pin: PIN?) async throws(CustodyError) -> ExternalKey { throw .notItsOwn(uri) }
}
