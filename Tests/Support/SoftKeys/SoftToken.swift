import Foundation
import Synchronization

/// A token of SoftHSM's (Debian: softhsm2), with keys that OpenSC's `pkcs11-tool` makes.
package final class SoftToken: Sendable {
    package static let modulePath = "/usr/lib/softhsm/libsofthsm2.so"
    package static let pin = "2468"

    package let label: String
    private let folder: String
    /// SoftHSM's tools look at every token of the folder, and fail if one goes meanwhile.
    private static let changes = Mutex(())

    /// A new token beside others of the folder.
    package init(in folder: String, label: String? = nil) throws {
        self.folder = folder
        self.label = label ?? "t-" + String(UInt32.random(in: .min ... .max), radix: 16)
        try FileManager.default.createDirectory(atPath: folder + "/tokens", withIntermediateDirectories: true)
        // Whole or not there: another test may be reading it.
        try Data("directories.tokendir = \(folder)/tokens\nlog.level = ERROR\n".utf8)
            .write(to: URL(filePath: folder + "/softhsm2.conf"), options: .atomic)
        try run(
            ["softhsm2-util", "--init-token", "--free", "--label", self.label, "--so-pin", "12345678"]
                + ["--pin", Self.pin])
    }

    deinit { _ = try? run(["softhsm2-util", "--delete-token", "--token", label]) }

    /// What a process needs in its environment to find the token.
    package var environment: [String: String] { ["SOFTHSM2_CONF": folder + "/softhsm2.conf"] }

    package func uri(_ name: String) -> String { "pkcs11:token=\(label);object=\(name)" }

    /// Makes a key pair.
    package func makeKey(
        _ name: String, id: String = "01", curve: String = "EC:prime256v1", _ options: String...
    ) throws {
        try tool(["--keypairgen", "--key-type", curve, "--label", name, "--id", id] + options)
    }

    /// Makes a key pair that whoever has the token can use without its PIN.
    package func makeOpenKey(_ name: String) throws {
        try run(
            ["p11tool", "--provider", Self.modulePath, "--generate-privkey", "ecc", "--curve", "secp256r1"]
                + ["--no-mark-private", "--label", name, "--id", "07", "--login", "--set-pin", Self.pin, "--batch"]
                + ["pkcs11:token=" + label])
    }

    /// Runs `pkcs11-tool` with the PIN.
    package func tool(_ arguments: [String]) throws {
        try run(
            ["pkcs11-tool", "--module", Self.modulePath, "--token-label", label, "--login", "--pin", Self.pin]
                + arguments)
    }

    /// The public half as GnuTLS's `p11tool` gives it: PEM, with more text around it.
    package func publicKey(_ name: String) throws -> String {
        let uri = uri(name) + ";type=public"
        return String(
            decoding: try run(["p11tool", "--provider", Self.modulePath, "--export", "--batch", uri]), as: UTF8.self)
    }

    /// Takes the token out, and gives what puts it back.
    package func takeOut() throws -> () throws -> Void {
        struct NotFound: Error {}
        let tokens = folder + "/tokens"
        let directory = try FileManager.default.contentsOfDirectory(atPath: tokens).first { name in
            // Another test may be making or deleting one.
            let object = try? Data(contentsOf: URL(filePath: "\(tokens)/\(name)/token.object"))
            return object?.range(of: Data(label.utf8)) != nil
        }
        guard let directory else { throw NotFound() }
        let (place, away) = ("\(tokens)/\(directory)", "\(folder)/away-\(directory)")
        try Self.move(place, to: away)
        return { try Self.move(away, to: place) }
    }

    @discardableResult
    private func run(_ words: [String]) throws -> [UInt8] {
        try Self.changes.withLock { _ in try ProgramRun.output(words, environment: environment) }
    }

    private static func move(_ place: String, to other: String) throws {
        try changes.withLock { _ in try FileManager.default.moveItem(atPath: place, toPath: other) }
    }
}
