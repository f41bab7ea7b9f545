import DurableFiles
import Foundation
import ScratchDirectories
import SpawnedProcesses

@testable import Keys

/// The machine's own `openssl` command.
enum OpenSSLCommand {
    struct Failure: Error { let status: Int32, message: String }

    @discardableResult
    static func run(_ arguments: String..., input: [UInt8] = []) throws -> [UInt8] {
        try run(arguments, input: input)
    }

    /// A new private key in clear, as PEM.
    static func generateKey(_ arguments: [String]) throws -> [UInt8] {
        try run(["genpkey"] + arguments, input: [])
    }

    /// The signature of a message, by a private key in a PEM file.
    static func sign(
        _ message: [UInt8], _ algorithm: SignatureAlgorithm, key: String, in scratch: ScratchDirectory
    ) throws -> [UInt8] {
        // EdDSA needs the message in a file, whose size is known.
        try DurableFile.write(message, to: scratch("message"), replacing: true)
        return try run(
            ["pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", scratch("message")] + algorithm.digestArguments,
            input: [])
    }

    /// Throws where the signature in a file does not hold for the message under the public key in a PEM file.
    static func verify(
        _ message: [UInt8], _ algorithm: SignatureAlgorithm, publicKey: String, signature: String,
        in scratch: ScratchDirectory
    ) throws {
        try DurableFile.write(message, to: scratch("message"), replacing: true)
        _ = try run(
            ["pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", publicKey, "-sigfile", signature]
                + ["-in", scratch("message")] + algorithm.digestArguments,
            input: [])
    }

    private static func run(_ arguments: [String], input: [UInt8]) throws -> [UInt8] {
        let process = try SpawnedProcess(["openssl"] + arguments)
        try process.input.write(contentsOf: Data(input))
        try process.input.close()
        let answer = try process.output.readToEnd() ?? Data()
        let message = try process.errors.readToEnd() ?? Data()
        let status = process.waitUntilExit()
        guard status == 0 else {
            throw Failure(status: status, message: String(decoding: message, as: UTF8.self))
        }
        return [UInt8](answer)
    }
}

func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = Array(hexadecimal.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") })
    return stride(from: 0, to: digits.count, by: 2).compactMap {
        UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
    }
}

func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

extension Secret {
    var revealed: [UInt8] { unsafe withBytes { unsafe Array($0) } }
    init(_ text: String) { self.init(Array(text.utf8)) }
}

/// Every way in which Swift turns a value into text.
func everyText(of value: Any) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    var debugged = ""
    debugPrint(value, to: &debugged)
    var printed = ""
    print(value, to: &printed)
    let mirrored = Mirror(reflecting: value).children.map { "\($0.value)" }.joined()
    return [
        "\(value)", String(describing: value), String(reflecting: value), dumped, debugged, printed, mirrored,
        "\([value])", "\(["k": value])", "\(Optional(value) as Any)",
    ]
}
