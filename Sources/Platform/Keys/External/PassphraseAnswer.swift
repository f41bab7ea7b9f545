import COpenSSL

/// The answer to OpenSSL's request for a passphrase, and whether OpenSSL asked.
@safe final class PassphraseAnswer {
    private let passphrase: Secret?
    private(set) var wasAsked = false

    init(_ passphrase: Secret?) {
        self.passphrase = passphrase
    }

    /// Lends the UI method that OSSL_STORE needs, and the method's data.
    func withMethod<Result: ~Copyable, Failure: Error>(
        _ body: (OpaquePointer, UnsafeMutableRawPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        let method = unsafe UI_UTIL_wrap_read_pem_callback(
            { buffer, size, _, data in
                guard let buffer = unsafe buffer, let data = unsafe data else { return -1 }
                let answer = unsafe Unmanaged<PassphraseAnswer>.fromOpaque(data).takeUnretainedValue()
                return unsafe answer.write(to: UnsafeMutableRawBufferPointer(start: buffer, count: Int(size)))
            }, 0)
        guard let method = unsafe method else { return nil }
        defer {
            unsafe UI_destroy_method(method)
            withExtendedLifetime(self) {}
        }
        return try unsafe body(method, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Writes the passphrase and returns its length, or -1 if there is none or it does not fit.
    ///
    /// OpenSSL gives up on -1.
    private func write(to buffer: UnsafeMutableRawBufferPointer) -> CInt {
        wasAsked = true
        guard let passphrase, passphrase.count <= buffer.count else { return -1 }
        unsafe passphrase.withBytes { unsafe buffer.copyMemory(from: $0) }
        return CInt(passphrase.count)
    }
}
