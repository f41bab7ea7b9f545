import Glibc
import Testing

@testable import LinuxProcess

@Suite struct SecretVariablesTests {
    @Test(arguments: [
        "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "GITHUB_TOKEN", "PGPASSWORD", "db_passwd", "https_proxy",
        "SSH_PASSPHRASE", "OPENAI_API_KEY", "MY_APIKEY", "TLS_PRIVATE_KEY", "TOKEN_PIN", "STRIPE_KEY",
        "ENCRYPTION_KEY", "signing_keys", "DB_PASS", "MYSQL_PWD", "HTTP_PROXY", "GOOGLE_CREDENTIALS", "CLIENT_SECRET",
        "SECRET", "TOKEN_FOR_CI", "ADMIN_PASSWORD_2",
    ])
    func `a name that says that it holds a secret`(name: String) {
        #expect(SecretVariables.isSecret(name))
    }

    @Test(arguments: [
        "PATH", "HOME", "LANG", "TZ", "CREDENTIALS_DIRECTORY", "STATE_DIRECTORY", "OOB_AGENT_SECRET_FILE", "PINENTRY",
        "OOB_AGENT_PROXY", "OOB_AGENT_PUSH_TLS_KEY", "KEYBOARD", "PWD", "OLDPWD", "MONKEY", "COMPASS",
        "TPM2OPENSSL_TCTI", "SOFTHSM2_CONF", "NOTIFY_SOCKET", "JOURNAL_STREAM", "OPENSSL_CONF",
    ])
    func `other names stay`(name: String) {
        #expect(!SecretVariables.isSecret(name))
    }

    private static func isGone(_ name: String) -> Bool { unsafe getenv(name) == nil }

    // In a process of its own: the environment is everybody's.
    @Test func `a variable that holds a secret is overwritten where it stands, and gone; others stay`() async {
        await #expect(processExitsWith: .success) {
            _ = unsafe setenv("OF_A_TOKEN", "4711-0815", 1)
            _ = unsafe setenv("OF_NOTHING", "kept=as it is", 1)
            let value = unsafe getenv("OF_A_TOKEN")
            SecretVariables.remove()
            // Whatever is left of a variable is still where it stood.
            let bytes = unsafe Array(UnsafeBufferPointer(start: value, count: 9))
            #expect(bytes == [CChar](repeating: 0, count: 9))
            #expect(Self.isGone("OF_A_TOKEN") && !Self.isGone("OF_NOTHING"))
        }
    }
}
