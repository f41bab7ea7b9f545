/// Throws what OpenSSL's queue says unless the call returns 1, libcrypto's word for success.
func check(_ function: String, _ call: () -> CInt) throws(OpenSSLError) {
    guard call() == 1 else { throw .drainingQueue(after: function) }
}

/// Throws what OpenSSL's queue says where the call returns no pointer.
///
/// The caller owns the pointer it gets.
func checkNotNull(_ function: String, _ call: () -> OpaquePointer?) throws(OpenSSLError) -> OpaquePointer {
    guard let pointer = unsafe call() else { throw .drainingQueue(after: function) }
    return unsafe pointer
}
