import Foundation

/// A directory in which SoftHSM and the TPM's provider find what the tests of this process make.
package enum Places {
    package static let root: String = {
        let root = NSTemporaryDirectory() + "soft-keys-\(ProcessInfo.processInfo.processIdentifier)"
        // A test that makes a key in a file there may be the first.
        try? FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        // Both libraries know no other way than the environment. It is set once, before the first test goes on.
        _ = unsafe setenv("SOFTHSM2_CONF", root + "/softhsm2.conf", 1)
        _ = unsafe setenv("TPM2OPENSSL_TCTI", "swtpm:path=" + socket(in: root), 1)
        _ = unsafe setenv("TSS2_LOG", "all+none", 1)
        atexit { try? FileManager.default.removeItem(atPath: Places.root) }
        return root
    }()

    package static func token(label: String? = nil) throws -> SoftToken { try SoftToken(in: root, label: label) }

    /// One suite alone can use it, and must be serialized.
    package static func tpm() throws -> SoftTPM {
        try SoftTPM(in: root + "/tpm-\(UUID().uuidString)", socket: socket(in: root))
    }

    private static func socket(in root: String) -> String { root + "/tpm.sock" }
}
