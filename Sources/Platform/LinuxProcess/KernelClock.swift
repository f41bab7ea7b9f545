import CLinux

/// The kernel's report on its own clock.
package enum KernelClock {
    /// Returns whether the clock is synchronised, such as by an NTP client.
    ///
    /// A virtual machine whose host keeps its clock right is not synchronised in this sense.
    package static func isSynchronised() throws(UnknownFactError) -> Bool {
        let answer = clinux_is_clock_synchronised()
        guard answer >= 0 else { throw .afterCall("adjtimex") }
        return answer == 1
    }
}
