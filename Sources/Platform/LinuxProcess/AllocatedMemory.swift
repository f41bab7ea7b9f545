import CLinux

/// The C library's pools of allocated memory.
package enum AllocatedMemory {
    /// The most pools of memory, for any number of threads and processors.
    private static let pools: CInt = 2

    /// Makes threads share pools of memory; call it before there are any threads.
    ///
    /// By default there are up to eight pools for each processor, and memory that was freed in one cannot be used by
    /// the others. This program's threads allocate little at the same time.
    package static func share() { clinux_limit_memory_pools(pools) }

    /// Returns freed memory to the system, which the C library would keep for later allocations.
    ///
    /// It takes some milliseconds, in which other threads wait for memory.
    package static func giveBack() { clinux_return_memory() }
}
