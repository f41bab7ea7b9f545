/// Memory for a secret: written once, then only read, and overwritten before it is freed; see ``LockedMemory``.
@safe final class WipedStorage: Sendable {
    // Nothing writes to the memory after init, so threads may read it together.
    private nonisolated(unsafe) let octets: UnsafeMutableRawBufferPointer

    var count: Int { unsafe octets.count }

    init(copying source: UnsafeRawBufferPointer) {
        unsafe octets = LockedMemory.allocate(source.count)
        unsafe octets.copyMemory(from: source)
    }

    /// Starts from zeros and lets `fill` write.
    ///
    /// The memory is wiped also where `fill` throws.
    init(
        count: Int, filledBy fill: (UnsafeMutableRawBufferPointer) throws(OpenSSLError) -> Void
    ) throws(OpenSSLError) {
        unsafe octets = LockedMemory.allocate(count)
        unsafe octets.initializeMemory(as: UInt8.self, repeating: 0)
        // Every property has its value by now, so a throw runs deinit.
        try unsafe fill(octets)
    }

    deinit { unsafe LockedMemory.wipe(octets) }

    func withOctets<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(UnsafeRawBufferPointer(octets))
    }
}
