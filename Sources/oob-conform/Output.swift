import ArgumentParser
import Foundation
import Glibc

/// The only place that prints: data on standard output, messages on standard error.
enum Output {
    /// Keeps what is opened later from the number of a standard stream that is closed; to be called first.
    ///
    /// Else that file gets what is written to the stream. As it is, writing to the stream goes on to fail.
    static func keepClosedStreams() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) == -1 {
            // open(2) takes the lowest number that is free.
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    /// One line, which is out when the call returns, also into a pipe.
    ///
    /// - Throws: the exit status, if it cannot be written; that is said.
    static func data(_ line: String) throws(ExitCode) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
        } catch {
            message("standard output cannot be written")
            throw .failure
        }
    }

    /// A message for whoever watches a terminal, and for nobody else.
    static func progress(_ sentence: String) {
        if isatty(STDERR_FILENO) == 1 { message(sentence) }
    }

    /// Writes a file whole.
    ///
    /// - Throws: the exit status, if it cannot be written; that is said.
    static func write(_ text: String, to path: String) throws(ExitCode) {
        do { try Data(text.utf8).write(to: URL(filePath: path), options: .atomic) } catch {
            message("\(path): cannot be written")
            throw ExitCode(2)
        }
    }

    /// Shows text at the beginning of the terminal's line, in place of what stood there.
    static func bar(_ text: String) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        try? FileHandle.standardError.write(contentsOf: Data("\r\(text)\u{1B}[K".utf8))
    }

    static func message(_ sentence: String) {
        try? FileHandle.standardError.write(contentsOf: Data("oob-conform: \(sentence)\n".utf8))
    }
}

extension ExitCode {
    /// EX_DATAERR of sysexits.h.
    static let dataError = ExitCode(65)
    /// EX_NOINPUT of sysexits.h.
    static let noInput = ExitCode(66)
}
