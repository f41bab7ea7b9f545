import ArgumentParser
import Foundation
import LinuxProcess

/// The only place that prints: data on standard output, messages on standard error.
let output = ProgramOutput(of: "oob-conform")

extension ProgramOutput {
    /// Writes a file whole.
    ///
    /// - Throws: the exit status, if it cannot be written; that is said.
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
