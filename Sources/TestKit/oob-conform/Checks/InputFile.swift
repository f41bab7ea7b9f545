import ArgumentParser
import Conformance
import Glibc
import LinuxProcess
import TextAndTime

/// A file that an argument names; `-` is standard input.
struct InputFile {
    let path: String

    /// What names it in a message.
    var name: String { path == "-" ? "standard input" : EscapedText.of(path, limit: 1_024) }

    /// All of it but a byte order mark at its beginning, which a reader may ignore (RFC 8259 §8.1).
    ///
    /// - Throws: the exit status, if it cannot be read or has more bytes; that is said.
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

    /// Reads it as what it must be.
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

/// Makes wrong usage of a value that an option must not have.
func usage<Value>(_ parse: () throws -> Value) throws -> Value {
    do { return try parse() } catch let error as GivenError { throw ValidationError(error.description) }
}

extension CheckReport {
    /// Prints the report, and throws the exit status unless all is in order.
    func show(of file: InputFile, json: Bool) throws {
        try output.data(json ? jsonLine : text(of: file.name))
        if !isInOrder { throw ExitCode.failure }
    }
}
