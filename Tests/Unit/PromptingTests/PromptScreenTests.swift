import Testing

@testable import Prompting

/// What comes out for a terminal: nothing that it would obey but what is meant to be.
struct PromptScreenTests {
    private static let hostile = "a\u{1B}[31mb\rc\u{7}\u{9B}d\u{202E}e\u{200B}\nf\tg"
    private static let escaped = #"a\u{1B}[31mb\u{D}c\u{7}\u{9B}d\u{202E}e\u{200B}\u{A}f\u{9}g"#

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func question(_ text: String = "Approve?", countdown: String? = "Expires in 9:59.") -> PromptQuestion
    {
        PromptQuestion(lines: [ScreenLine(text)], countdown: countdown, cue: "> ", isHidden: false)
    }

    @Test(arguments: [["TERM": "dumb", "LANG": "C.UTF-8"], ["TERM": "xterm", "LANG": "C.UTF-8"]])
    func `hostile text is shown and not obeyed, wherever it comes from`(environment: [String: String]) {
        var screen = PromptScreen(traits: Sample.traits(environment, columns: 200))
        let said = Self.text(screen.say([ScreenLine(Self.hostile)]) + screen.ask(Self.question(Self.hostile)))
        #expect(said.components(of: Self.escaped) == 2)
        for character in ["\u{1B}[31m", "\u{7}", "\u{9B}", "\u{202E}", "\u{200B}", "\t"] {
            #expect(!said.contains(character))
        }
    }

    @Test func `a terminal that cannot move its cursor gets text and line feeds, and nothing else`() throws {
        let request = try #require(ShownRequest(Sample.request()))
        for traits in [Sample.traits(["TERM": "dumb"]), Sample.traits([:]), Sample.traits(plain: true)] {
            var screen = PromptScreen(traits: traits)
            var bytes = screen.clear() + screen.say(RequestScreen.lines(request))
            bytes += screen.ask(Self.question()) + screen.count("Expires in 1:00.") + screen.withdraw()
            #expect(bytes.allSatisfy { $0 == 0x0A || $0 >= 0x20 })
            #expect(Self.text(bytes).hasSuffix("> \nExpires in 1:00.\n> \n"))
        }
    }

    @Test func `without UTF-8 all else comes out as escapes`() {
        var screen = PromptScreen(traits: Sample.traits(["TERM": "xterm", "LANG": "C.UTF-8", "LC_ALL": "C"]))
        #expect(Self.text(screen.say([ScreenLine("Dæmø 喫")])).hasSuffix("D\\u{E6}m\\u{F8} \\u{55AB}\n"))
    }

    @Test(arguments: [
        (["LC_ALL": "de_DE.UTF-8", "LANG": "C"], true), (["LC_CTYPE": "C.utf8", "LANG": "C"], true),
        (["LANG": "en_GB.UTF-8@euro"], true), (["LC_ALL": "", "LANG": "C.UTF-8"], true),
        (["LC_ALL": "C", "LANG": "C.UTF-8"], false), (["LC_CTYPE": "POSIX", "LANG": "C.UTF-8"], false),
        (["LANG": "de_DE.ISO-8859-1"], false), (["LANG": "de_DE"], false), ([:], false),
    ])
    func `the character set is found as setlocale finds it`(environment: [String: String], isUTF8: Bool) {
        #expect(Sample.traits(environment).isUTF8 == isUTF8)
    }

    @Test func `NO_COLOR takes colours away and leaves what is bold`() {
        var screen = PromptScreen(traits: Sample.traits(["TERM": "xterm", "NO_COLOR": "1"]))
        let bytes = screen.say(
            [.faint, .strong, .headline, .warning].map { ScreenLine("x", $0) })
        #expect(Self.text(bytes) == "\r\u{1B}[Kx\n" + String(repeating: "\u{1B}[1mx\u{1B}[0m\n", count: 3))
        #expect(Sample.traits(["TERM": "xterm", "NO_COLOR": ""]).hasColour)
    }

    @Test func `the time left is rewritten in its own row and the cursor goes back`() {
        var screen = PromptScreen(traits: Sample.traits())
        #expect(screen.count("Expires in 9:58.").isEmpty)
        _ = screen.ask(Self.question())
        #expect(Self.text(screen.count("Expires in 9:58.")) == "\u{1B}7\u{1B}[1A\rExpires in 9:58.\u{1B}[K\u{1B}8")
        screen.settle()
        #expect(screen.count("Expires in 9:57.").isEmpty)
    }

    @Test func `a question that goes away takes all its rows with it, once`() {
        var screen = PromptScreen(traits: Sample.traits(columns: 11))
        // Approve / this one? / Expires in / 9:59. / the cue.
        _ = screen.ask(Self.question("Approve this one?"))
        #expect(Self.text(screen.withdraw()) == "\r\u{1B}[4A\u{1B}[J")
        #expect(screen.withdraw().isEmpty)
        // A time that takes two rows is not rewritten.
        _ = screen.ask(Self.question())
        #expect(screen.count("Expires in 9:58.").isEmpty)
    }

    @Test func `a URL is a link if the terminal takes one, and the same bytes everywhere`() throws {
        let url = "https://merchant.example/return?transID=1"
        let plain = Array((url + "\n").utf8)
        for traits in [
            Sample.traits(["TERM": "dumb"]), Sample.traits(["TERM": "linux"]), Sample.traits([:]),
            Sample.traits(plain: true),
        ] { #expect(PromptScreen.link(to: url, traits) == plain) }
        let link = try #require(PromptScreen.link(to: url, Sample.traits()))
        #expect(Self.text(link) == "\u{1B}]8;;\(url)\u{1B}\\\(url)\u{1B}]8;;\u{1B}\\\n")
        #expect(PromptScreen.link(to: "merchantapp:x", Sample.traits()) == Array("merchantapp:x\n".utf8))
        for byte in ["\u{1B}", "\u{7}", " ", "\n", "\u{E9}", "\u{7F}"] {
            #expect(PromptScreen.link(to: "https://merchant.example/\(byte)", Sample.traits()) == nil)
        }
    }
}

extension String {
    fileprivate func components(of part: String) -> Int {
        self.split(separator: part, omittingEmptySubsequences: false).count - 1
    }
}
