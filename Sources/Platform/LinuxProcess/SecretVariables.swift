import CLinux
import Glibc

/// Environment variables that hold secrets of others: what started the agent may have passed on all that it had.
package enum SecretVariables {
    private static let prefix = "OOB_AGENT_"
    /// Anywhere in a name.
    private static let words = [
        "SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY",
    ]
    /// At its end.
    ///
    /// Proxies' URLs may hold a password.
    private static let endings = ["_KEY", "_KEYS", "_PASS", "_PWD", "_PIN", "_PROXY", "_CREDENTIALS"]

    /// Overwrites the values of all variables whose names say that they hold a secret, then removes them.
    ///
    /// They are overwritten where the kernel put them, so that /proc/PID/environ does not show them either. To be
    /// called first in `main`: nothing has copied them yet, and no other thread reads the environment.
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

    /// Whether a name says so, such as AWS_ACCESS_KEY_ID, GITHUB_TOKEN and STRIPE_KEY.
    ///
    /// The agent's own are names of files and such.
    static func isSecret(_ name: String) -> Bool {
        let name = name.uppercased()
        guard !name.hasPrefix(prefix) else { return false }
        return words.contains(where: name.contains) || endings.contains(where: name.hasSuffix)
    }
}
