import COpenSSL

/// The memory that holds secrets: a heap of OpenSSL's.
///
/// It never reaches a swap device, is in no core dump (mlock(2), and MADV_DONTDUMP of madvise(2)), and has a page on
/// either side that nothing may touch.
///
/// OpenSSL keeps private numbers there of its own accord, once there is such a heap.
package enum LockedMemory {
    /// Far more than what is open at once: a private key with its passphrases takes about a kilobyte.
    private static let bytes = 1 << 20
    /// What the smallest secret takes.
    private static let leastBytes = 32

    /// Makes the heap; to be called once, before anything of OpenSSL's is used.
    ///
    /// From then on OpenSSL also wipes all that it frees of other memory. By itself it does so with what it takes for
    /// secret, and 3.0 does not take the encoding of a private key for that, once it is decoded.
    ///
    /// - Returns: whether the heap is locked. If it is not, secrets are kept all the same: the process may not lock
    ///   so much (RLIMIT_MEMLOCK of getrlimit(2)).
    package static func prepare() -> Bool {
        let isWiping = shim_wipe_what_is_freed() == 1
        // 2 stands for a heap that could not be protected.
        let isProtected = CRYPTO_secure_malloc_init(bytes, leastBytes) == 1
        OpenSSLError.discardQueue()
        return isWiping && isProtected
    }

    /// Ordinary memory if there is no such heap, or if it is full.
    static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        guard CRYPTO_secure_malloc_initialized() == 1 else { return unsafe ordinary(count) }
        guard let memory = unsafe CRYPTO_secure_malloc(max(count, 1), nil, 0) else {
            OpenSSLError.discardQueue()
            return unsafe ordinary(count)
        }
        return unsafe UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    /// Overwrites what ``allocate(_:)`` gave, then frees it.
    static func wipe(_ memory: UnsafeMutableRawBufferPointer) {
        guard unsafe CRYPTO_secure_allocated(memory.baseAddress) == 1 else {
            // Not memset: a compiler may leave that out before a free.
            unsafe OPENSSL_cleanse(memory.baseAddress, memory.count)
            return unsafe memory.deallocate()
        }
        unsafe CRYPTO_secure_clear_free(memory.baseAddress, memory.count, nil, 0)
    }

    private static func ordinary(_ count: Int) -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: count, alignment: 1)
    }
}
