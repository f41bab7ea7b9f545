/// Memory for a secret: written once, then only read, and overwritten before it is freed; see ``LockedMemory``.
@safe final class WipedStorage: Sendable {
    // No code writes to the memory after init, so threads may read it together.
    private nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer

    var count: Int { unsafe bytes.count }

    init(copying source: UnsafeRawBufferPointer) {
        unsafe bytes = LockedMemory.allocate(source.count)
        unsafe bytes.copyMemory(from: source)
    }

    /// Starts from zeros and lets `fill` write.
    ///
    /// The memory is wiped even if `fill` throws.
    init(
        count: Int, filledBy fill: (UnsafeMutableRawBufferPointer) throws(OpenSSLError) -> Void
    ) throws(OpenSSLError) {
        unsafe bytes = LockedMemory.allocate(count)
        unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
        // Every property is initialized by now, so a throw runs deinit.
        try unsafe fill(bytes)
    }

    deinit { unsafe LockedMemory.wipe(bytes) }

    func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(UnsafeRawBufferPointer(bytes))
    }
}
