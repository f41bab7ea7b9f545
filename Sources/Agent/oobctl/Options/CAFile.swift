import Control
import Glibc

/// The PEM file of `--ca-file`; read here, because the agent may not be able to read this user's files.
enum CAFile {
    static func text(_ path: String) throws(ClientError) -> String {
        guard let bytes = read(path) else {
            throw error(path, "cannot be read.")
        }
        let limit = EnrollCommand.maxCAFileBytes
        guard bytes.count <= limit else {
            throw error(path, "has more than \(limit) bytes.")
        }
        guard let text = String(validating: bytes, as: UTF8.self), text.contains("-----BEGIN CERTIFICATE-----")
        else { throw error(path, "holds no certificate in PEM.") }
        guard !text.contains("PRIVATE KEY-----") else {
            throw error(path, "holds a private key; give certificates only.")
        }
        return text
    }

    private static func error(_ path: String, _ problem: String) -> ClientError {
        .refused(ControlError(.invalidArgument, "--ca-file: \(path) \(problem)"))
    }

    /// Reads at most one byte more than the limit.
    private static func read(_ path: String) -> [UInt8]? {
        guard let file = unsafe fopen(path, "re") else { return nil }
        defer { unsafe fclose(file) }
        let capacity = EnrollCommand.maxCAFileBytes + 1
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            count = unsafe fread(buffer.baseAddress, 1, capacity, file)
        }
        return unsafe ferror(file) == 0 ? bytes : nil
    }
}
