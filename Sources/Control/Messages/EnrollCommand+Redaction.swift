// Both hold the issuer's enrollment code, a secret until it is used: text shows the rest, and only a request body the
// code.

extension EnrollCommand: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "enroll at \(issuer) with <redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension EnrollLink: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "link of \(issuer) with <redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
