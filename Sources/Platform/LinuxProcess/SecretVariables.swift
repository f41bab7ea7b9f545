import CLinux
import Glibc

/// Environment variables with secrets of other programs, which the agent's parent may have passed on.
package enum SecretVariables {
    private static let prefix = "OOB_AGENT_"
    /// The words that mean a secret, anywhere in a name.
    private static let words = [
        "SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY",
    ]
    /// The words that mean a secret at the end of a name.
    ///
    /// Proxies' URLs may contain a password.
    private static let endings = ["_KEY", "_KEYS", "_PASS", "_PWD", "_PIN", "_PROXY", "_CREDENTIALS"]

    /// Overwrites the values of all variables whose names mean a secret, then removes the variables.
    ///
    /// The values are overwritten where the kernel put them, so that /proc/PID/environ does not show them either. Call
    /// it first in `main`: no code has copied the values yet, and no other thread reads the environment.
    package static func remove() {
        guard var entry = unsafe clinux_environment() else { return }
        var found: [String] = []
        while let text = unsafe entry.pointee {
            if let equals = unsafe strchr(text, CInt(UInt8(ascii: "="))) {
                let name = unsafe String(cString: text).prefix { $0 != "=" }
                if isSecret(String(name)) {
                    unsafe explicit_bzero(equals + 1, strlen(equals + 1))
                    found.append(String(name))
                }
            }
            unsafe entry += 1
        }
        for name in found { _ = unsafe unsetenv(name) }
    }

    /// Returns whether a name means a secret, such as AWS_ACCESS_KEY_ID, GITHUB_TOKEN and STRIPE_KEY.
    ///
    /// The agent's own variables are names of files and similar values.
    static func isSecret(_ name: String) -> Bool {
        let name = name.uppercased()
        guard !name.hasPrefix(prefix) else { return false }
        return words.contains(where: name.contains) || endings.contains(where: name.hasSuffix)
    }
}
