import Testing

@testable import Keys

@Suite struct KeyURITests {
    @Test(arguments: [
        ("file:/a/b.pem", "/a/b.pem"), ("file:///a/b.pem", "/a/b.pem"), ("FILE:/a%20b%3f%C3%A9", "/a b?é"),
    ])
    func `a file: URI is an absolute path`(text: String, path: String) throws {
        let uri = try KeyURI(text)
        #expect(uri.place == .file(path: path) && uri.text == text)
    }

    @Test(arguments: ["handle:0x81000000", "handle:0x81000001", "handle:0x81ffFFff"])
    func `a handle: URI is a persistent object of the TPM`(text: String) throws {
        guard case .tpm(let handle) = try KeyURI(text).place else {
            Issue.record("\(text) is another place")
            return
        }
        #expect(handle.number == UInt32(text.dropFirst(9), radix: 16))
    }

    @Test func `a pkcs11: URI names a token and a key, in bytes`() throws {
        let text = "pkcs11:token=My%20token;serial=0123;object=c%c3%A4rd;id=%00%ff;type=private"
        guard case .token(let name) = try KeyURI(text).place else {
            Issue.record("it is another place")
            return
        }
        #expect(name.token == [.token: Array("My token".utf8), .serial: Array("0123".utf8)])
        #expect(name.label == Array("cärd".utf8) && name.id == [0, 0xFF])
    }

    @Test(arguments: [
        ("", "1 to 1024"), ("file:/a b", "1 to 1024"), ("file:/ä", "1 to 1024"), ("file:/a\n", "1 to 1024"),
        ("file:/" + String(repeating: "a", count: 1_019), "1 to 1024"),
        ("key.pem", "begins with"), ("/key.pem", "begins with"), ("http://a/b", "begins with"), (":", "begins with"),
        ("engine:pkcs11:id", "begins with"),
        ("file:key.pem", "absolute"), ("file:", "absolute"), ("file://host/key", "absolute"),
        ("file:////key", "absolute"), ("file:/a?b", "no ? and no #"), ("file:/a#b", "no ? and no #"),
        ("file:/a%", "two hexadecimal"), ("file:/a%2", "two hexadecimal"), ("file:/a%+1", "two hexadecimal"),
        ("file:/a%00", "no zero byte"), ("file:/a%FF", "UTF-8"),
        ("handle:81000001", "persistent"), ("handle:0x8100001", "persistent"), ("handle:0x80000001", "persistent"),
        ("handle:0x810000011", "persistent"), ("handle:0x81000001?pass", "persistent"),
        ("handle:0x+1000001", "persistent"), ("handle:", "persistent"),
        ("pkcs11:", "attributes"), ("pkcs11:token=t", "names the token"), ("pkcs11:object=o", "names the token"),
        ("pkcs11:token=t;object=o;token=t", "twice"), ("pkcs11:token=t;object=o;", "attributes"),
        ("pkcs11:token=t;object=o;slot-id=1", "attributes"), ("pkcs11:token=t;object=o;module-path=m", "attributes"),
        ("pkcs11:token=t;object=", "1 to 255"), ("pkcs11:token=t;object", "1 to 255"),
        ("pkcs11:token=\(String(repeating: "t", count: 33));object=o", "1 to 32"),
        ("pkcs11:token=t;object=%4", "1 to 255"), ("pkcs11:token=t;object=o;type=public", "must be private"),
        ("pkcs11:token=t;object=o?pin-value=1", "must not hold a PIN"),
        ("pkcs11:token=t;object=o?pin-source=f", "must not hold a PIN"),
        ("pkcs11:token=t;object=o?module-path=/m.so", "no query"), ("pkcs11:token=t;object=o?", "no query"),
    ])
    func `any other text is refused, and the refusal says what is allowed`(text: String, says: String) {
        let error = #expect(throws: KeyURIError.self) { try KeyURI(text) }
        #expect(error?.description.contains(says) == true, "\(error?.description ?? "it was taken")")
    }

    @Test func `a refused PIN is not repeated`() {
        let error = #expect(throws: KeyURIError.self) { try KeyURI("pkcs11:token=t;object=o?pin-value=736251") }
        #expect(error?.description.contains("736251") == false)
    }

    @Test(arguments: [
        ("object=card", "object=%63ard", true), ("object=card;id=%01", "id=%01;object=card", true),
        ("object=card", "object=card;id=%01", true), ("object=card", "id=%01", false),
        ("object=card;id=%01", "object=card;id=%02", false), ("object=card", "object=other", false),
    ])
    func `two pkcs11: URIs name the same key of a token if they share a name and differ in none`(
        one: String, two: String, isSame: Bool
    ) throws {
        let uris = try [one, two].map { try KeyURI("pkcs11:token=t;" + $0) }
        #expect(uris[0].namesKey(of: uris[1]) == isSame && uris[1].namesKey(of: uris[0]) == isSame)
    }
}
