import AgentConfig
import Testing

struct ConfigFileTests {
    private static let names = ["log-level", "max-undecided", "socket"]

    private func read(_ text: String) throws(ConfigError) -> [String: ConfigFile.Member] {
        try ConfigFile(Array(text.utf8), path: "a.yaml", names: Self.names, advice: "see the help").members
    }

    @Test func `a member has its value, and its place for messages`() throws {
        let members = try read("log-level: info\n\nsocket: \"a b\"\n")
        #expect(members.count == 2)
        #expect(members["log-level"]?.value == "info")
        #expect(members["socket"]?.value == "a b")
        #expect(members["socket"]?.place == "a.yaml:3: socket")
    }

    @Test func `a list may be a text with commas or a sequence, and no entry smuggles another in`() throws {
        let read = { (text: String) throws(ConfigError) in
            try ConfigFile(
                Array(text.utf8), path: "a.yaml", names: ["issuers"], sequences: ["issuers"], advice: "see the help"
            )
            .members["issuers"]
        }
        for text in ["issuers: \"a, b\"\n", "issuers: [a, b]\n", "issuers:\n- a\n- b\n"] {
            let member = try read(text)
            #expect(member?.value == "a, b" && member?.place == "a.yaml:1: issuers")
        }
        #expect(try read("issuers: []\n")?.value == "")
        for text in ["issuers: [\"a, b\"]\n", "issuers: [[a]]\n", "issuers: [{a: b}]\n"] {
            #expect(throws: ConfigError("a.yaml:1: issuers: each entry must be one value without a comma")) {
                try read(text)
            }
        }
    }

    @Test(arguments: ["", "\n", "# nothing\n"])
    func `a file without members is a config`(text: String) throws {
        #expect(try read(text).isEmpty)
    }

    @Test(arguments: [
        ("- a\n", "a.yaml:1: the config must be a mapping, such as `log-level: info`"),
        ("\ncolour: red\n", "a.yaml:2: colour: no such setting; see the help"),
        ("log-levle: a\n", "a.yaml:1: log-levle: no such setting; did you mean log-level?"),
        ("socket: a\nlog-level: b\nsocket: c\n", "a.yaml:3: socket: is set twice"),
        ("socket: [a]\n", "a.yaml:1: socket: must be one value"),
        ("[a]: b\n", "a.yaml:1: : no such setting; see the help"),
        ("socket: a\n\tb: c\n", "a.yaml:2: tabs are not allowed here; use spaces"),
        ("socket: a\n\n\tlog-level: b\n", "a.yaml:3: tabs are not allowed here; use spaces"),
        ("socket: *a\n", "a.yaml:1: socket: put the value in quotes; YAML takes * at its beginning for its own"),
        (
            "log-level: info\nsocket: [::]:8443\n",
            "a.yaml:2: socket: put the value in quotes; YAML takes [ at its beginning for its own"
        ),
        (
            "socket: [::]:8443\nlog-level: info\n",
            "a.yaml:1: socket: put the value in quotes; YAML takes [ at its beginning for its own"
        ),
        ("socket: @a\n", "a.yaml:1: socket: put the value in quotes; YAML takes @ at its beginning for its own"),
        (
            "socket: a: b\n",
            "a.yaml:1: this is not YAML: write NAME: VALUE, and put a value with : or # in quotes"
        ),
    ])
    func `what is wrong is told with its line`(text: String, message: String) {
        #expect { try read(text) } throws: { ($0 as? ConfigError)?.message == message }
    }

    @Test func `a byte order mark at the beginning is no part of the first name`() throws {
        let members = try read("\u{FEFF}log-level: info\nsocket: a\n")
        #expect(members.mapValues(\.value) == ["log-level": "info", "socket": "a"])
        #expect(try read("\u{FEFF}").isEmpty)
    }

    @Test(arguments: ["\n", "\r\n", "\r"])
    func `what is wrong is told alike whatever a line ends with`(end: String) {
        for (text, message) in [
            (
                "log-level: info|socket: [::]:47443|",
                "a.yaml:2: socket: put the value in quotes; YAML takes [ at its beginning for its own"
            ),
            ("socket: a||\tlog-level: b|", "a.yaml:3: tabs are not allowed here; use spaces"),
            ("socket: a|socket: a|", "a.yaml:2: socket: is set twice"),
        ] {
            #expect {
                try read(text.split(separator: "|", omittingEmptySubsequences: false).joined(separator: end))
            } throws: {
                ($0 as? ConfigError)?.message == message
            }
        }
    }

    private static let general = "this is not YAML: write NAME: VALUE, and put a value with : or # in quotes"
    private static let escape =
        #"socket: in double quotes \ begins an escape; write \\, or put the value in single quotes"#
    private static let indent = "the line must begin in the column of those that it belongs to"

    @Test(arguments: [
        ("may-look: [alice, bob]\nsocket: te: xt\n", "2: \(general)"),
        ("rules: [{then: ask}]\nsocket: te: xt\n", "2: \(general)"),
        ("socket: [a\nlog-level: b\n", "1: socket: put the value in quotes; YAML takes [ at its beginning for its own"),
        ("socket: \"info\n", "1: socket: the quote at the beginning of the value is not closed"),
        ("socket: 'a\nlog-level: b\n", "1: socket: the quote at the beginning of the value is not closed"),
        (#"socket: "C:\path""#, "1: \(escape)"),
        (#"socket: "C:\xpath""#, "1: \(escape)"),
        ("issuers: [a, *x]\n", "1: issuers: put the value in quotes; YAML takes * at its beginning for its own"),
        ("{socket: @a}\n", "1: socket: put the value in quotes; YAML takes @ at its beginning for its own"),
        ("a:\n  - name: @a\n", "2: name: put the value in quotes; YAML takes @ at its beginning for its own"),
        ("socket:\t[::]:1\n", "1: socket: put the value in quotes; YAML takes [ at its beginning for its own"),
        ("socket: a\n---\nsocket: b\n", "2: \(general)"),
        ("log-level: info\n  socket: a\n", "2: socket: \(indent)"),
        ("  log-level: info\nsocket: a\n", "2: socket: \(indent)"),
        ("rules:\n    - a: b\n  c: d\n", "3: c: \(indent)"),
    ])
    func `the line to correct is named, and what it needs`(text: String, message: String) {
        #expect { try read(text) } throws: {
            ($0 as? ConfigError)?.message == "a.yaml:\(message)"
        }
    }

    @Test func `text of the file in a message cannot move or end the line`() {
        #expect { try read("\"a\\nb\\e[2J\": 1\n") } throws: { error in
            (error as? ConfigError)?.message.hasPrefix(#"a.yaml:1: a\u{A}b\u{1B}[2J: no such"#) == true
        }
    }

    @Test func `a config of 65,536 bytes is read, one more is refused`() throws {
        let text = "socket: " + String(repeating: "a", count: 65_528)
        #expect(try read(text)["socket"]?.value.utf8.count == 65_528)
        #expect(throws: ConfigError.self) { try read(text + "a") }
    }

    /// More levels of more aliases would be compared until the end of days.
    @Test func `aliases that multiply are refused at once`() {
        let bomb = (1...3).reduce("a0: &a0 [x]\n") { text, level in
            let aliases = Array(repeating: "*a\(level - 1)", count: 3).joined(separator: ",")
            return text + "a\(level): &a\(level) [\(aliases)]\n"
        }
        #expect { try read(bomb + "? *a3\n: x\n") } throws: { error in
            (error as? ConfigError)?.message == "a.yaml: the config has more than 8 aliases (*name)"
        }
    }

    @Test func `eight aliases are read, and asterisks that are none are not counted`() throws {
        let text = "# * a\n# * b\n# **c**\nlog-level: &a info\nmax-undecided: \"" + String(repeating: "a*b", count: 9)
        #expect(try read(text + "\"\nsocket: *a\n")["socket"]?.value == "info")
        let aliases = Array(repeating: "*a", count: 8).joined(separator: ", ")
        #expect { try read("log-level: &a info\nsocket: [\(aliases)]\n") } throws: { error in
            (error as? ConfigError)?.message == "a.yaml:2: socket: must be one value"
        }
    }

    @Test func `bytes that are no UTF-8 are refused`() {
        #expect(throws: ConfigError.self) {
            try ConfigFile([0xC3, 0x28], path: "a.yaml", names: Self.names, advice: "")
        }
    }
}
