import Control
import Glibc

/// The PEM file of `--ca-file`: read here, since the agent may not see this user's files.
enum CAFile {
    static func text(_ path: String) throws(ClientFailure) -> String {
        guard let octets = read(path) else {
            throw error(path, "cannot be read.")
        }
        let most = EnrollCommand.maxCAFileOctets
        guard octets.count <= most else {
            throw error(path, "has more than \(most) octets.")
        }
        guard let text = String(validating: octets, as: UTF8.self), text.contains("-----BEGIN CERTIFICATE-----")
        else { throw error(path, "holds no certificate in PEM.") }
        guard !text.contains("PRIVATE KEY-----") else {
            throw error(path, "holds a private key; give certificates only.")
        }
        return text
    }

    private static func error(_ path: String, _ problem: String) -> ClientFailure {
        .refused(ControlError(.invalidArgument, "--ca-file: \(path) \(problem)"))
    }

    /// At most one octet more than is allowed.
    private static func read(_ path: String) -> [UInt8]? {
        guard let file = unsafe fopen(path, "re") else { return nil }
        defer { unsafe fclose(file) }
        let capacity = EnrollCommand.maxCAFileOctets + 1
        let octets = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            count = unsafe fread(buffer.baseAddress, 1, capacity, file)
        }
        return unsafe ferror(file) == 0 ? octets : nil
    }
}
