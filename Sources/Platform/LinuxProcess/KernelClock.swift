import CLinux

/// What the kernel knows of its own clock.
package enum KernelClock {
    /// Whether something, such as an NTP client, keeps the clock right.
    ///
    /// A virtual machine whose host keeps its clock right is not synchronised in this sense.
    package static func isSynchronised() throws(UnknownFactError) -> Bool {
        let answer = clinux_is_clock_synchronised()
        guard answer >= 0 else { throw .afterCall("adjtimex") }
        return answer == 1
    }
}
