public import FoundationEssentials

/// The reason why a call failed.
public struct D1Error: Error, Sendable {
    /// D1's error number.
    public let code: Code
    /// The cause, if more is known than the code.
    public let cause: Cause?

    init(_ code: Code, _ cause: Cause?) {
        self.code = code
        self.cause = cause
    }

    init(_ code: Code, _ name: String, _ message: String) {
        self.init(code, Cause(name: name, message: message))
    }
}

extension D1Error {
    /// D1's error numbers, as far as calls of this library can end with them in D1.
    public enum Code: Int, CaseIterable, Sendable {
        /// The payer cancelled, or the app or the calling task did.
        case cancelled = 10001
        /// Never used: this library has no login.
        case notLoggedIn = 10005
        /// Never used: this library has no login.
        case notAuthorized = 10006
        /// Never used: this library does not check the security of the machine, which tests run on.
        case deviceEnvironmentUnsafe = 10007
        /// The state could not be read or written, or a push subscription did not reach the issuer.
        case core = 20001
        /// `configure` has not been called, or the `D1Task` was closed.
        case notInitialized = 60001
        /// An argument or a setting is invalid.
        case invalidArgument = 60002
        /// The operation failed; the cause says which step.
        case authn = 70001
        /// This issuer has no enrollment of the app, or no longer knows it.
        case authnNotEnrolled = 70002
        /// The PIN was wrong.
        case authnAccessDenied = 70003
        /// The enrollment is blocked for a while after too many wrong PINs.
        case authnBlocked = 70004
        /// The enrollment code is wrong, used or expired.
        case authnInvalidEnrollmentToken = 70005
        /// No means of user verification, or the key cannot be used now; D1 has this number on Android.
        case authenticatorNotAvailable = 70006
    }

    /// The cause of an error.
    public struct Cause: Error, Sendable, Hashable, CustomStringConvertible {
        /// A stable name, such as `noRequest`; the control API of `oob-agent` uses the same names.
        public let name: String
        /// A sentence for a person: the fault, its place and the permitted values.
        ///
        /// It contains no PIN, code or key.
        public let message: String

        /// The message only.
        public var description: String { message }
    }
}

extension D1Error: LocalizedError, CustomStringConvertible {
    /// `NAME [NUMBER] (CAUSE) SENTENCE`; the last two parts are there if there is a cause.
    public var errorDescription: String? { description }

    /// The same text as ``errorDescription``.
    public var description: String {
        let own = "\(code) [\(code.rawValue)]"
        return cause.map { "\(own) (\($0.name)) \($0.message)" } ?? own
    }
}

extension D1Error.Cause: LocalizedError {
    /// The message only.
    public var errorDescription: String? { message }
}
