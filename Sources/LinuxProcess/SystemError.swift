import Glibc

/// A system call that failed, with the kernel's reason.
package struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The call, and what it was to do: "open /var/lib/oob-agent/agent.lock".
    package let operation: String
    /// The number that the call left in errno.
    package let errno: CInt

    package init(operation: String, errno: CInt) {
        (self.operation, self.errno) = (operation, errno)
    }

    /// From errno as the call just before left it.
    static func afterCall(_ operation: String) -> SystemError {
        SystemError(operation: operation, errno: Glibc.errno)
    }

    package var description: String {
        // glibc keeps the text per thread (strerror(3)), and it is copied at once.
        "\(operation): \(unsafe String(cString: strerror(errno)))"
    }
}
