import Testing

@testable import IssuerProtocol

/// The public suffix list, and what it says of names.
struct PublicSuffixListTests {
    private static let sample = """
        // ===BEGIN ICANN DOMAINS===

        // a comment, with a rule in it: example
        com
        uk
        co.uk what comes after the first space is a comment
        *.ck
        !www.ck
        jp
        *.kobe.jp
        !city.kobe.jp
        公司.cn
        中国
        公司.香港
        møre-og-romsdal.no
        // ===END ICANN DOMAINS===
        // ===BEGIN PRIVATE DOMAINS===
        github.io
        *.compute.amazonaws.com
        """

    @Test(arguments: [
        ("com", true), ("bank.com", false), ("co.uk", true), ("bank.co.uk", false), ("o.uk", false),
        ("comment", false),
        ("example", false), ("ck", false), ("co.ck", true), ("bank.co.ck", false), ("www.ck", false),
        ("login.www.ck", false), ("kobe.jp", false), ("c.kobe.jp", true), ("b.c.kobe.jp", false),
        ("city.kobe.jp", false), ("www.city.kobe.jp", false), ("xn--55qx5d.cn", true), ("shishi.xn--55qx5d.cn", false),
        ("xn--mre-og-romsdal-qqb.no", true), ("github.io", true), ("bank.github.io", false),
        ("xn--fiqs8s", true), ("bank.xn--fiqs8s", false), ("xn--55qx5d.xn--j6w193g", true),
        ("eu.compute.amazonaws.com", true), ("compute.amazonaws.com", false), ("", false), (".co.uk", false),
        ("*.ck", false), ("!www.ck", false),
    ])
    func `a name is a suffix by the longest rule that matches it, and by no other`(name: String, isSuffix: Bool) {
        let list = PublicSuffixList(Array(Self.sample.utf8))
        #expect((list.publicSuffix(of: name) == name) == isSuffix)
    }

    @Test(arguments: [
        ("login.bank.co.uk", "co.uk", true), ("login.bank.co.uk", "bank.co.uk", false), ("co.uk", "co.uk", false),
        ("x.eu.compute.amazonaws.com", "eu.compute.amazonaws.com", true),
        ("x.eu.compute.amazonaws.com", "compute.amazonaws.com", true),
        ("x.eu.compute.amazonaws.com", "amazonaws.com", true), ("www.amazonaws.com", "amazonaws.com", false),
        ("a.c.kobe.jp", "kobe.jp", true), ("a.b.c.kobe.jp", "b.c.kobe.jp", false),
        ("www.city.kobe.jp", "city.kobe.jp", false), ("www.city.kobe.jp", "kobe.jp", true),
        ("acs.bank.example", "bank.example", false),
    ])
    func `a host may not have its suffix or what is above that`(host: String, rpId: String, isForbidden: Bool) {
        let list = PublicSuffixList(Array(Self.sample.utf8))
        #expect(list.forbids(rpId: rpId, of: host) == isForbidden)
    }

    @Test func `a line that is no rule is left out, and the others stand`() {
        let lines: [[UInt8]] = [
            [0xFF, 0xFE], Array(".".utf8), Array("a..b".utf8), Array("*".utf8), Array("a.*.b".utf8), Array("!".utf8),
            Array("Upper.case".utf8), Array("127.0.0.1".utf8), [0], Array(String(repeating: "a", count: 300).utf8),
            Array("-a.b".utf8), Array("!!a.b".utf8), [], Array("   ".utf8), Array("//".utf8),
        ]
        let list = PublicSuffixList(Array((lines + [Array("co.uk\r".utf8)]).joined(separator: [UInt8(ascii: "\n")])))
        #expect(list.publicSuffix(of: "bank.co.uk") == "co.uk")
        for name in ["a.b", "x.a.b", "b.case", "case", "0.1", "a.*.b"] { #expect(list.publicSuffix(of: name) == nil) }
        let left = PublicSuffixList(Array(lines.joined(separator: [UInt8(ascii: "\n")])))
        #expect(!left.hasRule && !PublicSuffixList([]).hasRule && !PublicSuffixList(Array("//\n\n".utf8)).hasRule)
        #expect(PublicSuffixList(Array("// none\nuk".utf8)).hasRule)
    }

    /// RFC 3492 §7.1, and labels of the list.
    @Test(arguments: [
        ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"), ("bücher", "xn--bcher-kva"), ("中国", "xn--fiqs8s"),
        ("ليهمابتكلموشعربي؟", "xn--egbpdaj6bu4bxfgehfvwxn"), ("plain-1", "plain-1"), ("", ""),
    ])
    func `a label in Unicode has its Punycode`(label: String, ascii: String) {
        #expect(Punycode.label(label) == ascii)
    }
}
