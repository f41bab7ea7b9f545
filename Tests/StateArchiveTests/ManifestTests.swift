import Testing

@testable import StateArchive

struct ManifestTests {
    private func read(version: String = "1.2.3", createdAt: String = "2023-11-14T22:13:20Z", schema: String = "1-book")
        throws(Manifest.Fault) -> Manifest
    {
        let text = """
            {"format":1,"version":"\(version)","createdAt":"\(createdAt)","schema":["\(schema)"],"bytes":0,\
            "sha256":"\(String(repeating: "0", count: 64))"}
            """
        return try Manifest(json: Array(text.utf8))
    }

    @Test func `a manifest is read`() throws {
        let manifest = try read()
        #expect(manifest.version == "1.2.3" && manifest.createdAt == "2023-11-14T22:13:20Z")
        #expect(manifest.schema == ["1-book"] && manifest.bytes == 0)
    }

    @Test(arguments: [#"\u001b[2J"#, #"a\nb"#, "\u{202E}", #"\u007f"#])
    func `text that a terminal would obey is refused`(text: String) {
        #expect(throws: Manifest.Fault.unreadable) { try read(version: text) }
        #expect(throws: Manifest.Fault.unreadable) { try read(schema: text) }
    }

    @Test func `a time of another form is refused`() throws {
        #expect(throws: Manifest.Fault.unreadable) { try read(createdAt: #"\u001b]0;2023-11-14T22Z"#) }
        #expect(throws: Manifest.Fault.unreadable) { try read(createdAt: "2023-11-14T22:13:20") }
    }

    @Test func `a name of a migration has at most 64 bytes`() throws {
        #expect(try read(schema: String(repeating: "a", count: 64)).schema.count == 1)
        #expect(throws: Manifest.Fault.unreadable) { try read(schema: String(repeating: "a", count: 65)) }
    }
}
