import COpenSSL

/// A failed libcrypto call, with all reasons that OpenSSL gave.
///
/// The reasons are OpenSSL's own constant texts ("library: reason"). The data that OpenSSL may add to an error is left
/// out on purpose. The value therefore never contains key bytes or a passphrase, and can be logged.
package struct OpenSSLError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The libcrypto function that failed.
    package let function: String
    /// The reasons, oldest first.
    ///
    /// Empty if OpenSSL gave none.
    package private(set) var reasons: [String]
    /// The number at the start of the newest error's data, if the data starts with one.
    ///
    /// The provider `tpm2` puts the TPM's response code there. The rest of the data is not read.
    var dataNumber: UInt32?

    package var description: String {
        let cause = reasons.isEmpty ? "no reason given" : reasons.joined(separator: "; ")
        return "OpenSSL's \(function) failed: \(cause)"
    }

    /// Removes every entry from this thread's error queue, so that no later call finds it.
    ///
    /// The queue is per thread: no `await` may come between the failed call and this one.
    static func drainingQueue(after function: String) -> OpenSSLError {
        var error = OpenSSLError(function: function, reasons: [])
        var data: UnsafePointer<CChar>?
        var flags: CInt = 0
        while true {
            let code = unsafe ERR_get_error_all(nil, nil, nil, &data, &flags)
            if code == 0 { return error }
            error.reasons.append(reason(of: code))
            error.dataNumber = unsafe number(in: data, flags) ?? error.dataNumber
        }
    }

    private static func number(in data: UnsafePointer<CChar>?, _ flags: CInt) -> UInt32? {
        guard flags & ERR_TXT_STRING != 0, let data = unsafe data else { return nil }
        return unsafe UInt32(String(cString: data).prefix { $0.isASCII && $0.isNumber })
    }

    /// Empties the queue if the failure is an expected answer, such as an invalid signature.
    static func discardQueue() {
        ERR_clear_error()
    }

    /// Whether this thread's error queue is empty.
    ///
    /// Every function of this module leaves it empty.
    package static var queueIsEmpty: Bool {
        ERR_peek_error() == 0
    }

    private static func reason(of code: CUnsignedLong) -> String {
        let library = unsafe ERR_lib_error_string(code).map { unsafe String(cString: $0) } ?? "unknown library"
        let reason = unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "reason \(code)"
        return "\(library): \(reason)"
    }
}

/// Throws the errors in OpenSSL's queue unless the call returns 1, which is libcrypto's success.
func check(_ function: String, _ call: () -> CInt) throws(OpenSSLError) {
    guard call() == 1 else { throw .drainingQueue(after: function) }
}

/// Throws the errors in OpenSSL's queue if the call returns no pointer.
///
/// The caller owns the pointer that it gets.
func checkNotNull(_ function: String, _ call: () -> OpaquePointer?) throws(OpenSSLError) -> OpaquePointer {
    guard let pointer = unsafe call() else { throw .drainingQueue(after: function) }
    return unsafe pointer
}
