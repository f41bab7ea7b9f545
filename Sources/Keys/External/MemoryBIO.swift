import COpenSSL

/// A BIO over memory: one that reads octets of another owner, or one that is written to.
@safe struct MemoryBIO: ~Copyable {
    private let pointer: OpaquePointer  // <BIO>

    /// Reads the octets, which must stay for as long as this value.
    init(borrowing octets: UnsafeRawBufferPointer) throws(OpenSSLError) {
        unsafe pointer = try checkNotNull("BIO_new_mem_buf") {
            unsafe BIO_new_mem_buf(octets.baseAddress, CInt(octets.count))
        }
    }

    /// Takes what is written.
    init() throws(OpenSSLError) {
        unsafe pointer = try checkNotNull("BIO_new") { unsafe BIO_new(BIO_s_mem()) }
    }

    deinit { unsafe BIO_free(pointer) }

    func withPointer<Result: ~Copyable, Failure: Error>(
        _ body: (OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(pointer)
    }

    /// What was written, as far as `maxOctets`.
    func text(maxOctets: Int) -> String {
        var octets = [UInt8](repeating: 0, count: maxOctets)
        let count = unsafe BIO_read(pointer, &octets, CInt(maxOctets))
        return String(decoding: octets.prefix(max(0, Int(count))), as: UTF8.self)
    }
}
