import COpenSSL

/// A BIO over memory, which either reads bytes of another owner or is written to.
@safe struct MemoryBIO: ~Copyable {
    private let pointer: OpaquePointer  // <BIO>

    /// Reads the bytes, which must exist for as long as this value.
    init(borrowing bytes: UnsafeRawBufferPointer) throws(OpenSSLError) {
        unsafe pointer = try checkNotNull("BIO_new_mem_buf") {
            unsafe BIO_new_mem_buf(bytes.baseAddress, CInt(bytes.count))
        }
    }

    /// Creates an empty BIO to write to.
    init() throws(OpenSSLError) {
        unsafe pointer = try checkNotNull("BIO_new") { unsafe BIO_new(BIO_s_mem()) }
    }

    deinit { unsafe BIO_free(pointer) }

    func withPointer<Result: ~Copyable, Failure: Error>(
        _ body: (OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(pointer)
    }

    /// Returns the text that was written, up to `maxBytes`.
    func text(maxBytes: Int) -> String {
        var bytes = [UInt8](repeating: 0, count: maxBytes)
        let count = unsafe BIO_read(pointer, &bytes, CInt(maxBytes))
        return String(decoding: bytes.prefix(max(0, Int(count))), as: UTF8.self)
    }
}
