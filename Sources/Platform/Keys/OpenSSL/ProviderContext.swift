import COpenSSL

/// An owned OSSL_LIB_CTX in which the provider `tpm2` is loaded beside OpenSSL's own.
///
/// It is separate from the default context, so that only keys of the TPM use that provider. The connection to the TPM
/// is open for as long as this value exists.
@safe final class ProviderContext: Sendable {
    /// The context, which libcrypto guards with locks of its own.
    nonisolated(unsafe) let pointer: OpaquePointer  // <OSSL_LIB_CTX>
    private nonisolated(unsafe) let providers: [OpaquePointer]  // <OSSL_PROVIDER>

    /// The property query that prefers the provider `tpm2`.
    ///
    /// Without it OpenSSL uses its own implementation for the keys of this provider, and finds no private half.
    let properties = "?provider=tpm2"

    init() throws(OpenSSLError) {
        let context = try unsafe checkNotNull("OSSL_LIB_CTX_new") { unsafe OSSL_LIB_CTX_new() }
        var loaded: [OpaquePointer] = unsafe []
        do throws(OpenSSLError) {
            for name in ["default", "tpm2"] {
                unsafe loaded.append(
                    try checkNotNull("OSSL_PROVIDER_load") { unsafe OSSL_PROVIDER_load(context, name) })
            }
        } catch {
            unsafe Self.free(context, loaded)
            throw error
        }
        unsafe (pointer, providers) = unsafe (context, loaded)
    }

    deinit { unsafe Self.free(pointer, providers) }

    private static func free(_ context: OpaquePointer, _ providers: [OpaquePointer]) {
        unsafe providers.reversed().forEach { unsafe OSSL_PROVIDER_unload($0) }
        unsafe OSSL_LIB_CTX_free(context)
    }
}
