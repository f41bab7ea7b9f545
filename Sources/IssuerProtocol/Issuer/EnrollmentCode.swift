/// What an issuer hands out so that someone may enroll: 1 to 256 bytes of text, a secret until it is used.
///
/// No way of printing shows it.
package struct EnrollmentCode: Sendable, Equatable {
    package static let bytes = 1...256

    private let code: String

    package init?(_ text: String) {
        guard Self.bytes.contains(text.utf8.count) else { return nil }
        code = text
    }

    /// The code itself, for the one message that carries it to the issuer.
    package func reveal() -> String { code }

    /// By bytes.
    package static func == (left: EnrollmentCode, right: EnrollmentCode) -> Bool {
        left.code.utf8.elementsEqual(right.code.utf8)
    }
}

extension EnrollmentCode: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    // `dump` would show the stored property.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
