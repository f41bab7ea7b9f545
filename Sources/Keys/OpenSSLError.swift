import COpenSSL

/// A failed libcrypto call, with everything that OpenSSL said about it.
///
/// The reasons are OpenSSL's own constant texts ("library: reason"). The data that OpenSSL may add to an error is left
/// out on purpose, so that the value can be logged: it never carries key octets or a passphrase.
package struct OpenSSLError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The libcrypto function that failed.
    package let function: String
    /// The reasons, oldest first.
    ///
    /// Empty where OpenSSL gave none.
    package let reasons: [String]

    package var description: String {
        let cause = reasons.isEmpty ? "no reason given" : reasons.joined(separator: "; ")
        return "OpenSSL's \(function) failed: \(cause)"
    }

    /// Takes every entry from this thread's error queue, so that nothing stays for a later call to find.
    ///
    /// The queue is per thread: no `await` may stand between the failed call and this one.
    static func drainingQueue(after function: String) -> OpenSSLError {
        var reasons: [String] = []
        while true {
            let code = ERR_get_error()
            if code == 0 { return OpenSSLError(function: function, reasons: reasons) }
            reasons.append(reason(of: code))
        }
    }

    /// Empties the queue where the failure is an expected answer, such as a signature that does not hold.
    static func discardQueue() {
        ERR_clear_error()
    }

    /// Whether this thread's error queue is empty.
    ///
    /// Every function of this module leaves it so.
    package static var queueIsEmpty: Bool {
        ERR_peek_error() == 0
    }

    private static func reason(of code: CUnsignedLong) -> String {
        let library = unsafe ERR_lib_error_string(code).map { unsafe String(cString: $0) } ?? "unknown library"
        let reason = unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "reason \(code)"
        return "\(library): \(reason)"
    }
}
