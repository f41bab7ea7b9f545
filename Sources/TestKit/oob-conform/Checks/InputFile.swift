import ArgumentParser
import Conformance
import Glibc
import LinuxProcess
import TextAndTime

/// A file named by an argument; `-` is standard input.
struct InputFile {
    let path: String

    /// The file's name in messages.
    var name: String { path == "-" ? "standard input" : EscapedText.of(path, limit: 1_024) }

    /// Reads the file without a byte order mark at its start, which a reader may ignore (RFC 8259 §8.1).
    ///
    /// - Throws: the exit status, if the file cannot be read or has more bytes; the message is printed first.
    func bytes(atMost limit: Int) throws(ExitCode) -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable() }
        defer { if path != "-" { close(descriptor) } }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            let count = unsafe Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable() }
            if count == 0 { return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes }
            bytes += piece[..<count]
        }
        throw failed("has more than \(limit) bytes", .dataError)
    }

    private func unreadable() -> ExitCode {
        failed("cannot be read: \(unsafe String(cString: strerror(errno)))", .noInput)
    }

    /// Reads the file with a parser.
    func read<Value>(
        atMost limit: Int, as parse: ([UInt8]) throws(GivenError) -> Value
    ) throws(ExitCode) -> Value {
        let bytes = try bytes(atMost: limit)
        do { return try parse(bytes) } catch { throw failed(error.description, .dataError) }
    }

    func failed(_ problem: String, _ status: ExitCode) -> ExitCode {
        output.message("\(name) \(problem)")
        return status
    }
}

/// Reports an invalid value of an option as wrong usage.
func usage<Value>(_ parse: () throws -> Value) throws -> Value {
    do { return try parse() } catch let error as GivenError { throw ValidationError(error.description) }
}

extension CheckReport {
    /// Prints the report, and throws the exit status if a rule is broken.
    func show(of file: InputFile, json: Bool) throws {
        try output.data(json ? jsonLine : text(of: file.name))
        if !isInOrder { throw ExitCode.failure }
    }
}
