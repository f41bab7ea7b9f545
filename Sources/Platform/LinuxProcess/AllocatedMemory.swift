import CLinux

/// How the C library keeps the memory that a process allocates.
package enum AllocatedMemory {
    /// How many pools of memory there are at most, however many threads and processors.
    private static let pools: CInt = 2

    /// Has threads share pools of memory; to be called before there are any.
    ///
    /// By default there are up to eight for each processor, and what was freed in one is of no use to the others. This
    /// program's threads allocate little at the same time.
    package static func share() { clinux_limit_memory_pools(pools) }

    /// Gives the system back what the process has freed, which the C library else keeps for what is allocated next.
    ///
    /// It takes some milliseconds, in which other threads wait for memory.
    package static func giveBack() { clinux_return_memory() }
}
