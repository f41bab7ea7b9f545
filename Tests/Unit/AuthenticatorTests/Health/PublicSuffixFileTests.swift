import AgentHost
import DurableFiles
import IssuerProtocol
import Records
import ScratchDirectories
import Testing

/// The system's public suffix list.
struct PublicSuffixFileTests {
    private let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    private func file(_ name: String, _ bytes: [UInt8], mode: UInt32 = 0o644) throws -> PublicSuffixFile {
        let path = directory(name)
        try DurableFile.write(bytes, to: path, mode: mode, replacing: true)
        return PublicSuffixFile(at: path)
    }

    private func finding(_ file: PublicSuffixFile) async -> Finding? {
        let inspector = LinuxHostInspector(
            stateDirectory: directory.path, socketPath: directory("socket"), isSocketShared: false, secretFile: nil,
            isSecretCredential: false, isMemoryLocked: true, suffixes: file)
        return await inspector.findings().first { $0.weakness == .suffixListMissing }
    }

    @Test func `the system's list is read`() async throws {
        let file = PublicSuffixFile()
        let list = try #require(file.list, "install publicsuffix (Scripts/bootstrap --tests does)")
        #expect(list.hasRule)
        for name in ["co.uk", "github.io", "co.ck", "xn--55qx5d.cn"] { #expect(list.publicSuffix(of: name) == name) }
        for name in ["bank.co.uk", "www.ck", "city.kobe.jp", "bank.example"] {
            #expect(list.publicSuffix(of: name) != name)
        }
        #expect(await finding(file) == nil)
    }

    @Test func `without a file that can be used the doctor says which one, and why`() async throws {
        let missing = PublicSuffixFile(at: directory("none.dat"))
        let empty = try file("empty.dat", Array("// nothing\n".utf8))
        let large = try file("large.dat", [UInt8](repeating: 0x61, count: 1 << 20 + 1))
        let open = try file("open.dat", Array("co.uk\n".utf8), mode: 0o666)
        for (unusable, path, why) in [
            (missing, "none.dat", "no such file"), (empty, "empty.dat", "has no rule"),
            (large, "large.dat", "1048576"), (open, "open.dat", "0644"),
        ] {
            #expect(unusable.list == nil)
            let message = try #require(await finding(unusable)?.message)
            #expect(message.contains(path) && message.contains(why), "\(message)")
            #expect(message.contains("co.uk") && message.contains("publicsuffix"))
        }
    }
}
