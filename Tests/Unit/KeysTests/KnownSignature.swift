import Testing

@testable import Keys

/// A public key and a signature of it that a standard prints.
struct KnownSignature: Sendable, CustomTestStringConvertible {
    let section: String
    let material: PublicKeyMaterial
    let message: [UInt8]
    /// As a JWS has it.
    let raw: [UInt8]
    /// As WebAuthn has it.
    let signature: [UInt8]

    var testDescription: String { section }

    static let all = [p256, p384, ed25519, ed25519OfNothing]

    static let p256 = KnownSignature(
        section: "RFC 6979 §A.2.5, SHA-256", material: .p256(x: p256X, y: p256Y), message: Array("sample".utf8),
        raw: p256R + p256S, signature: [0x30, 0x46, 0x02, 0x21, 0x00] + p256R + [0x02, 0x21, 0x00] + p256S)
    private static let p256X = bytes("60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6")
    private static let p256Y = bytes("7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299")
    private static let p256R = bytes("EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716")
    private static let p256S = bytes("F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8")

    static let p384 = KnownSignature(
        section: "RFC 6979 §A.2.6, SHA-384", material: .p384(x: p384X, y: p384Y), message: Array("sample".utf8),
        raw: p384R + p384S, signature: [0x30, 0x66, 0x02, 0x31, 0x00] + p384R + [0x02, 0x31, 0x00] + p384S)
    private static let p384X = bytes(
        """
        EC3A4E415B4E19A4568618029F427FA5DA9A8BC4AE92E02E06AAE5286B300C64DEF8F0EA9055866064A254515480BC13
        """)
    private static let p384Y = bytes(
        """
        8015D9B72D7D57244EA8EF9AC0C621896708A59367F9DFB9F54CA84B3F1C9DB1288B231C3AE0D4FE7344FD2533264720
        """)
    private static let p384R = bytes(
        """
        94EDBB92A5ECB8AAD4736E56C691916B3F88140666CE9FA73D64C4EA95AD133C81A648152E44ACF96E36DD1E80FABE46
        """)
    private static let p384S = bytes(
        """
        99EF4AEB15F178CEA1FE40DB2603138F130E740A19624526203B6351D0A3A94FA329C145786E679E7B82C71A38628AC8
        """)

    static let ed25519 = KnownSignature(
        section: "RFC 8032 §7.1, TEST 3",
        material: .ed25519(bytes("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025")),
        message: [0xAF, 0x82], raw: ed25519Signature, signature: ed25519Signature)
    private static let ed25519Signature = bytes(
        """
        6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac
        18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a
        """)

    static let ed25519OfNothing = KnownSignature(
        section: "RFC 8032 §7.1, TEST 1",
        material: .ed25519(bytes("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")),
        message: [], raw: ed25519SignatureOfNothing, signature: ed25519SignatureOfNothing)
    private static let ed25519SignatureOfNothing = bytes(
        """
        e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155
        5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b
        """)
}

extension SignatureAlgorithm {
    /// What `openssl genpkey` is told, to make a key pair for it.
    var opensslArguments: [String] {
        switch self {
        case .es256: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        case .es384: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"]
        case .eddsa: ["-algorithm", "ED25519"]
        }
    }

    /// What `openssl pkeyutl -rawin` is told beside the key.
    var digestArguments: [String] {
        switch self {
        case .es256: ["-digest", "sha256"]
        case .es384: ["-digest", "sha384"]
        case .eddsa: []
        }
    }
}
