import Control

/// What a client of the control socket may take.
package struct ControlBounds: Sendable {
    /// Connections at a time, within `FileLimit`; past it another one is closed for each newcomer.
    package var connections = 256
    /// Seconds for a client to send a whole head, a whole body, or to read an answer; then it is cut.
    package var patience = 10
    /// All header fields of a request together; one has at most half of it.
    package var headerBytes = 16_384
    /// The body of a request.
    package var bodyBytes = ControlJSON.maxCommandBytes

    package static let standard = ControlBounds()

    /// The header fields of a request.
    static let headerFields = 64
    /// What clients leave unread of their answers, all together: eight of the longest.
    static let unreadBytes = 8 * ControlJSON.maxAnswerBytes

    package init() {}
}
