import Glibc

/// A system call that failed, with the kernel's reason.
package struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The call and its object, such as "open /var/lib/oob-agent/agent.lock".
    package let operation: String
    /// The errno of the call.
    package let errno: CInt

    package init(operation: String, errno: CInt) {
        (self.operation, self.errno) = (operation, errno)
    }

    /// Makes the error from errno, so it must directly follow the failed call.
    package static func afterCall(_ operation: String) -> SystemError {
        SystemError(operation: operation, errno: Glibc.errno)
    }

    package var description: String {
        // glibc keeps the text per thread (strerror(3)), and the text is copied at once.
        "\(operation): \(unsafe String(cString: strerror(errno)))"
    }
}

/// The reason why a fact about this host or process is not known.
package struct UnknownFactError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The reason as a part of a sentence, such as "open /proc/swaps: Permission denied".
    package let description: String

    package init(_ description: String) { self.description = description }

    /// Makes the error from errno, so it must directly follow the failed call.
    package static func afterCall(_ operation: String) -> UnknownFactError {
        UnknownFactError(SystemError.afterCall(operation).description)
    }
}

/// Small files in which the kernel reports its state.
package enum KernelFile {
    /// The most bytes that are read; a longer file gives an error.
    static let maxBytes = 65_536

    package static func text(_ path: String) throws(UnknownFactError) -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .afterCall("open \(path)") }
        defer { close(file) }
        var (all, piece) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
        while all.count <= maxBytes {
            let count = unsafe read(file, &piece, piece.count)
            if count == 0 { return String(decoding: all, as: UTF8.self) }
            guard count > 0 || errno == EINTR else { throw .afterCall("read \(path)") }
            all += piece.prefix(max(count, 0))
        }
        throw UnknownFactError("\(path) has more than \(maxBytes) bytes")
    }
}
