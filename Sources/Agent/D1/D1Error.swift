public import FoundationEssentials

/// Why a call did not do what it was to do.
public struct D1Error: Error, Sendable {
    /// D1's number for what went wrong.
    public let code: Code
    /// What was behind it, if more is known than the code.
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
        /// The payer, the app or the task that called did not go through with it.
        case cancelled = 10001
        /// Never given: this library has no login.
        case notLoggedIn = 10005
        /// Never given: this library has no login.
        case notAuthorized = 10006
        /// Never given: nobody looks at the machine that tests run on.
        case deviceEnvironmentUnsafe = 10007
        /// The state could not be read or written, or a push subscription did not reach the issuer.
        case core = 20001
        /// `configure` has not been called, or the `D1Task` was closed.
        case notInitialized = 60001
        /// An argument or a setting is out of order.
        case invalidArgument = 60002
        /// The operation failed; the cause says at what.
        case authn = 70001
        /// There is no enrollment at this issuer, or the issuer does not know it any more.
        case authnNotEnrolled = 70002
        /// The PIN was wrong.
        case authnAccessDenied = 70003
        /// Too many wrong PINs: none is taken for a while.
        case authnBlocked = 70004
        /// The enrollment code is wrong, used or expired.
        case authnInvalidEnrollmentToken = 70005
        /// There is nothing to verify the user with, or the key cannot be used now. D1 has this number on Android.
        case authenticatorNotAvailable = 70006
    }

    /// What was behind an error.
    public struct Cause: Error, Sendable, Hashable, CustomStringConvertible {
        /// A name that does not change, such as `noRequest`; the control API of `oob-agent` uses the same ones.
        public let name: String
        /// One sentence for a person, which holds no PIN, code or key: what, where, and what is allowed.
        public let message: String

        /// The sentence alone.
        public var description: String { message }
    }
}

extension D1Error: LocalizedError, CustomStringConvertible {
    /// `NAME [NUMBER] (CAUSE) SENTENCE`, the last two if there is a cause.
    public var errorDescription: String? { description }

    /// As ``errorDescription``.
    public var description: String {
        let own = "\(code) [\(code.rawValue)]"
        return cause.map { "\(own) (\($0.name)) \($0.message)" } ?? own
    }
}

extension D1Error.Cause: LocalizedError {
    /// The sentence alone.
    public var errorDescription: String? { message }
}
