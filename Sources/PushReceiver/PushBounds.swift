import HTTPServing

/// What a sender of pushes may take; the body's bound is the standard's.
package struct PushBounds: Sendable {
    /// Connections at a time, within `FileLimit`; past it another one is closed for each newcomer.
    package var connections = 256
    /// The seconds for a TLS handshake and a whole request, and for the next one after it.
    package var patience = 10

    /// The header fields of a request: a VAPID token is the longest.
    static let header = PatientChannel.HeaderBounds(fieldBytes: 6_144, bytes: 16_384, fields: 64)

    package static let standard = PushBounds()

    package init() {}
}
