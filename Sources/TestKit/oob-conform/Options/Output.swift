import ArgumentParser
import Foundation
import LinuxProcess

/// The program's output: data on standard output, messages on standard error.
///
/// No other code prints.
let output = ProgramOutput(of: "oob-conform")

extension ProgramOutput {
    /// Writes a file atomically.
    ///
    /// - Throws: the exit status, if the file cannot be written; the message is printed first.
    func write(_ text: String, to path: String) throws(ExitCode) {
        do { try Data(text.utf8).write(to: URL(filePath: path), options: .atomic) } catch {
            message("\(path): cannot be written")
            throw ExitCode(2)
        }
    }
}

extension ExitCode {
    /// EX_DATAERR of sysexits.h.
    static let dataError = ExitCode(65)
    /// EX_NOINPUT of sysexits.h.
    static let noInput = ExitCode(66)
}
