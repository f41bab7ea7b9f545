import Foundation

/// A software TPM (Debian: swtpm), and keys in it that `tpm2-tools` and `openssl` make.
///
/// It has one client at a time: keys are made before another process is connected.
package final class SoftTPM: Sendable {
    private let socket: String
    private let folder: String

    /// - Parameter socket: the path of a Unix socket, for which there must be no other.
    package init(in folder: String, socket: String) throws {
        (self.folder, self.socket) = (folder, socket)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try start()
        try tool("tpm2_createprimary", "-C", "o", "-g", "sha256", "-G", "ecc", "-c", folder + "/primary")
    }

    deinit { try? stop() }

    /// What a process needs in its environment to find it.
    package var environment: [String: String] { ["TPM2OPENSSL_TCTI": tcti, "TSS2_LOG": "all+none"] }
    package var tcti: String { "swtpm:path=" + socket }
    /// Where the tools look for it.
    private var control: String { socket + ".ctrl" }

    /// Returns when it takes connections.
    package func start() throws {
        try run(
            ["swtpm", "socket", "--tpm2", "--daemon", "--tpmstate", "dir=" + folder]
                + ["--server", "type=unixio,path=" + socket, "--ctrl", "type=unixio,path=" + control]
                + ["--flags", "not-need-init,startup-clear", "--pid", "file=" + folder + "/pid"])
    }

    /// Returns when it is gone, and with it its lock of the folder.
    package func stop() throws {
        let pid = try String(contentsOfFile: folder + "/pid", encoding: .utf8).trimmingCharacters(in: .newlines)
        try run(["swtpm_ioctl", "-s", "--unix", control])
        let deadline = ContinuousClock.now + .seconds(60)
        // Of a process that is gone and that nobody has waited for, the program is not to be seen either.
        while (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe")) != nil {
            guard ContinuousClock.now < deadline else {
                throw ProgramRun.Failure(words: ["swtpm"], status: 0, message: "it does not stop")
            }
            usleep(10_000)
        }
    }

    /// Runs one of the `tpm2-tools`, and makes room after it: the TPM has place for three objects.
    package func tool(_ words: String...) throws {
        try run(words + ["-T", tcti])
        try run(["tpm2_flushcontext", "-t", "-T", tcti])
    }

    /// Makes a key, keeps it in the TPM, and gives its URI.
    package func makeKey(
        _ handle: String, pin: String? = nil, curve: String = "ecc256",
        attributes: String = "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|sign"
    ) throws -> String {
        let (publicPart, privatePart, context) = (folder + "/public", folder + "/private", folder + "/context")
        let create = ["tpm2_create", "-C", folder + "/primary", "-G", curve, "-a", attributes]
        try run(create + ["-u", publicPart, "-r", privatePart, "-T", tcti] + (pin.map { ["-p", $0] } ?? []))
        try run(["tpm2_flushcontext", "-t", "-T", tcti])
        try tool("tpm2_load", "-C", folder + "/primary", "-u", publicPart, "-r", privatePart, "-c", context)
        try tool("tpm2_evictcontrol", "-C", "o", "-c", context, handle)
        return "handle:" + handle
    }

    /// Makes a key in a TSS2 file, which only this TPM can use, and gives its URI.
    package func makeFile(_ name: String, pin: String? = nil, group: String = "P-256") throws -> String {
        let path = "\(folder)/\(name)"
        try run(
            ["openssl", "genpkey", "-provider", "tpm2", "-provider", "default", "-propquery", "?provider=tpm2"]
                + ["-algorithm", "EC", "-pkeyopt", "group:" + group, "-out", path]
                + (pin.map { ["-pkeyopt", "user-auth:" + $0] } ?? []))
        return "file:" + path
    }

    private func run(_ words: [String]) throws { try ProgramRun.output(words, environment: environment) }
}
