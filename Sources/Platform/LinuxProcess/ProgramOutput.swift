import Glibc

/// The output of a program: data on standard output, messages on standard error.
package struct ProgramOutput: Sendable {
    private let program: String

    /// - Parameter program: the name that messages begin with.
    package init(of program: String) { self.program = program }

    /// Opens /dev/null in the place of closed standard streams; call it first.
    ///
    /// Otherwise a file that is opened later gets the number of such a stream, and receives the output to it. With
    /// /dev/null opened for reading, writing to the stream still fails.
    package static func keepClosedStreams() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) == -1 {
            // open(2) returns the lowest free number.
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    /// Writes one line, which is written when the call returns, also into a pipe.
    package func data(_ line: String) throws(UnwrittenOutputError) {
        guard Self.write(Array("\(line)\n".utf8), to: STDOUT_FILENO) else { throw UnwrittenOutputError() }
    }

    /// Writes one sentence for people.
    ///
    /// An error is ignored, because it cannot be reported anywhere.
    package func message(_ sentence: String) {
        _ = Self.write(Array("\(program): \(sentence)\n".utf8), to: STDERR_FILENO)
    }

    /// Writes all of the bytes without a buffer, so that data and messages keep their order.
    ///
    /// - Returns: whether all bytes are written. If not, `errno` has the reason.
    package static func write(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if written == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }
}

/// The error for standard output that is full, closed or without a reader.
package struct UnwrittenOutputError: Error, CustomStringConvertible {
    package var description: String { "standard output cannot be written" }
}
