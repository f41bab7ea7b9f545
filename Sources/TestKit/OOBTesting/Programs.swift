import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A failure of a program.
public struct OOBError: Error, CustomStringConvertible {
    /// The exit status, as documented with the commands.
    public let status: Int32
    /// The program's message.
    public let description: String

    /// - Parameter description: may contain a merchant's text, so it is escaped.
    init(status: Int32, description: String) {
        self.status = status
        self.description = ShownText.of(description)
    }
}

/// The output of a program that succeeded.
struct Printed {
    let data: Data

    var text: String { String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines) }

    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value { try JSONDecoder().decode(type, from: data) }
}

/// Runs a program to its end.
func execute(_ name: String, _ words: [String]) async throws -> Printed {
    try await blocking { try output(of: try program(name, words)) }
}

/// Runs a process to its end.
///
/// - Parameter limit: the limit of each output, in bytes; a process that writes more is killed.
func output(of process: Process, limit: Int = 16 * 1_048_576) throws -> Printed {
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let written = contents(of: [output.fileHandleForReading, errors.fileHandleForReading], limit: limit)
    // SIGTERM is blocked in a child that was started on a thread of Dispatch.
    if written == nil { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    guard let written else { throw OOBError(status: 70, description: "it wrote more than \(limit) bytes") }
    guard process.terminationStatus == 0 else {
        throw OOBError(status: process.terminationStatus, description: String(decoding: written[1], as: UTF8.self))
    }
    return Printed(data: written[0])
}

/// Reads files until all of them are closed, or returns `nil` if one has more than `limit` bytes.
///
/// All files are read at the same time: a writer blocks as soon as one pipe is full and is not read.
private func contents(of files: [FileHandle], limit: Int) -> [Data]? {
    var contents = files.map { _ in Data() }
    var waiting = files.map { pollfd(fd: $0.fileDescriptor, events: Int16(POLLIN), revents: 0) }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    // poll(2) ignores an entry with a negative file descriptor.
    while waiting.contains(where: { $0.fd >= 0 }) {
        guard unsafe poll(&waiting, nfds_t(waiting.count), -1) > 0 else { continue }
        for index in waiting.indices where waiting[index].revents != 0 {
            let count = unsafe read(waiting[index].fd, &buffer, buffer.count)
            if count > 0 {
                contents[index] += buffer[..<count]
                guard contents[index].count <= limit else { return nil }
            } else if count == 0 || errno != EINTR {
                waiting[index].fd = -1
            }
        }
    }
    return contents
}

/// Gets the body of an answer of the sandbox.
func download(_ address: String, seconds: Double) async throws -> Data {
    guard let url = URL(string: address) else { throw OOBError(status: 64, description: "\(address) is no URL") }
    var request = URLRequest(url: url)
    request.timeoutInterval = seconds
    let (data, answer) = try await URLSession.shared.data(for: request)
    guard (answer as? HTTPURLResponse)?.statusCode == 200 else {
        throw OOBError(status: 1, description: String(decoding: data, as: UTF8.self))
    }
    return data
}

/// A program that runs until it is stopped.
///
/// It prints `listening on ADDRESS` on standard output when it is ready, and logs to the tests' own standard error.
final class LongRunning: Sendable {
    private let process: Process
    private let output = Pipe()

    init(_ name: String, _ words: [String]) throws {
        process = try program(name, words)
        process.standardOutput = output
        try process.run()
    }

    /// Waits for the line, for at most one minute; the wait also ends if the program ends.
    func address() async throws -> String {
        let watchdog = DispatchWorkItem { [process] in process.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + 60, execute: watchdog)
        defer { watchdog.cancel() }
        let line = try await blocking { [output] in
            var line = Data()
            while !line.contains(UInt8(ascii: "\n")) {
                let more = output.fileHandleForReading.availableData
                guard !more.isEmpty else { throw OOBError(status: 69, description: "it ended before it listened") }
                line += more
            }
            return Printed(data: line).text
        }
        return line.replacing("listening on ", with: "")
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}

/// Makes a process of a program in the directory OOB_BIN_DIR.
private func program(_ name: String, _ words: [String]) throws -> Process {
    guard let directory = ProcessInfo.processInfo.environment["OOB_BIN_DIR"] else {
        throw OOBError(status: 64, description: "set OOB_BIN_DIR to the directory of oob-agent, oobctl and oob-issuer")
    }
    let process = Process()
    process.executableURL = URL(filePath: directory).appending(path: name)
    process.arguments = words
    process.standardInput = FileHandle.nullDevice
    return process
}

/// Runs blocking code on a Dispatch thread, not on the threads that run tests.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
    }
}
