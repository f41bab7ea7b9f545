import COpenSSL

/// The memory for secrets: the secure heap of OpenSSL.
///
/// It is never written to a swap device or a core dump (mlock(2), and MADV_DONTDUMP of madvise(2)), and has an
/// inaccessible page on either side.
///
/// Once the heap exists, OpenSSL also puts private numbers there.
package enum LockedMemory {
    /// The size of the heap.
    ///
    /// It is far more than is in use at once: a private key with its passphrases uses about a kilobyte.
    private static let bytes = 1 << 20
    /// The bytes that the smallest secret uses.
    private static let leastBytes = 32

    /// Creates the heap; call it once, before any other use of OpenSSL.
    ///
    /// From then on OpenSSL also wipes all other memory that it frees. By default it wipes only memory that it
    /// considers secret. OpenSSL 3.0 does not consider the encoding of a private key to be secret once it is decoded.
    ///
    /// - Returns: whether the heap is locked and freed memory is wiped. If the heap is not locked, secrets are kept all
    ///   the same: the process may not lock so much memory (RLIMIT_MEMLOCK of getrlimit(2)).
    package static func prepare() -> Bool {
        let isWiping = shim_wipe_what_is_freed() == 1
        // 2 means that the heap could not be protected.
        let isProtected = CRYPTO_secure_malloc_init(bytes, leastBytes) == 1
        OpenSSLError.discardQueue()
        return isWiping && isProtected
    }

    /// Allocates memory in the heap, or ordinary memory if the heap is missing or full.
    static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        guard CRYPTO_secure_malloc_initialized() == 1 else { return unsafe ordinary(count) }
        guard let memory = unsafe CRYPTO_secure_malloc(max(count, 1), nil, 0) else {
            OpenSSLError.discardQueue()
            return unsafe ordinary(count)
        }
        return unsafe UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    /// Overwrites memory from ``allocate(_:)``, then frees it.
    static func wipe(_ memory: UnsafeMutableRawBufferPointer) {
        guard unsafe CRYPTO_secure_allocated(memory.baseAddress) == 1 else {
            // Not memset, which a compiler may omit before a free.
            unsafe OPENSSL_cleanse(memory.baseAddress, memory.count)
            return unsafe memory.deallocate()
        }
        unsafe CRYPTO_secure_clear_free(memory.baseAddress, memory.count, nil, 0)
    }

    private static func ordinary(_ count: Int) -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: count, alignment: 1)
    }
}
