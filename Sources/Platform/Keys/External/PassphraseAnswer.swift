import COpenSSL

/// What OpenSSL gets when it asks for a passphrase, and whether it asked.
@safe final class PassphraseAnswer {
    private let passphrase: Secret?
    private(set) var wasAsked = false

    init(_ passphrase: Secret?) {
        self.passphrase = passphrase
    }

    /// Lends what OSSL_STORE wants: a method, and the data for it.
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

    /// The count of bytes written; -1 (OpenSSL gives up) if there is no passphrase, or none that fits.
    private func write(to buffer: UnsafeMutableRawBufferPointer) -> CInt {
        wasAsked = true
        guard let passphrase, passphrase.count <= buffer.count else { return -1 }
        unsafe passphrase.withBytes { unsafe buffer.copyMemory(from: $0) }
        return CInt(passphrase.count)
    }
}
