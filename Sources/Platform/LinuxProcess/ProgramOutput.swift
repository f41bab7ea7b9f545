import Glibc

/// The output of a program: data on standard output, messages on standard error.
package struct ProgramOutput: Sendable {
    private let program: String

    /// - Parameter program: the name that messages begin with.
    package init(of program: String) { self.program = program }

    /// Keeps what is opened later from the number of a standard stream that is closed; to be called first.
    ///
    /// Else that file gets what is written to the stream. As it is, writing to the stream goes on to fail.
    package static func keepClosedStreams() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) == -1 {
            // open(2) takes the lowest number that is free.
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    /// Writes one line, which is out when the call returns, also into a pipe.
    package func data(_ line: String) throws(UnwrittenOutputError) {
        guard Self.write(Array("\(line)\n".utf8), to: STDOUT_FILENO) else { throw UnwrittenOutputError() }
    }

    /// Writes one sentence for people; if standard error cannot be written there is nobody left to tell.
    package func message(_ sentence: String) {
        _ = Self.write(Array("\(program): \(sentence)\n".utf8), to: STDERR_FILENO)
    }

    /// Writes all of the bytes without a buffer, so that data and messages keep their order.
    ///
    /// - Returns: whether all are out; if not, `errno` says why.
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

/// Standard output that is full, closed or read by nobody.
package struct UnwrittenOutputError: Error, CustomStringConvertible {
    package var description: String { "standard output cannot be written" }
}
