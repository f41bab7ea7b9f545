import Foundation
import SpawnedProcesses

/// Another program that is run to its end.
package enum ProgramRun {
    package struct Failure: Error {
        package let words: [String], status: Int32, message: String
    }

    /// Its standard output; any exit status but 0 throws.
    @discardableResult
    package static func output(_ words: [String], environment: [String: String] = [:]) throws -> [UInt8] {
        let process = try SpawnedProcess(["env"] + environment.map { "\($0)=\($1)" } + words)
        try process.input.close()
        let answer = try process.output.readToEnd() ?? Data()
        let message = try process.errors.readToEnd() ?? Data()
        let status = process.waitUntilExit()
        guard status == 0 else {
            throw Failure(words: words, status: status, message: String(decoding: message, as: UTF8.self))
        }
        return [UInt8](answer)
    }
}
