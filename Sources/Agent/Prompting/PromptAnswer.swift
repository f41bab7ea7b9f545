/// The person's answer to the question about a request: a letter or its word, and Enter.
///
/// Enter is required, so that no single stray key decides and the person sees the text before it counts.
enum PromptAnswer: Sendable, Equatable, CaseIterable {
    case approve, deny, denyAsFraud, skip, help

    init?(_ text: String) {
        let word = text.lowercased().filter { $0 != " " }
        guard let answer = Self.allCases.first(where: { $0.words.contains(word) }) else { return nil }
        self = answer
    }

    private var words: [String] {
        switch self {
        case .approve: ["a", "approve"]
        case .deny: ["d", "deny"]
        case .denyAsFraud: ["f", "fraud"]
        case .skip: ["s", "skip"]
        case .help: ["?", "help"]
        }
    }

    static let helpLines = [
        ScreenLine("a  approve: the issuer is told that you authenticated this, signed", indent: 3),
        ScreenLine("d  deny: the issuer is told that you did not", indent: 3),
        ScreenLine("f  deny as fraud: the same, and that you suspect fraud", indent: 3),
        ScreenLine("s  skip: nothing is decided, the next request is shown; it comes again", indent: 3),
        ScreenLine("?  this help", indent: 3),
        ScreenLine("Each is followed by Enter. Ctrl-C ends; nothing is decided then."), .blank,
    ]
}

extension PromptQuestion {
    /// The question if only skipped requests are pending.
    static func skipped(_ count: Int, _ traits: ScreenTraits) -> PromptQuestion {
        let which = count == 1 ? "The request that you skipped is" : "\(count) requests that you skipped are"
        let them = count == 1 ? "it" : "them"
        let line = ScreenLine("\(which) still pending. Enter shows \(them) again; Ctrl-C ends.")
        return PromptQuestion(lines: [line], countdown: nil, cue: traits.isPlain ? "Enter: " : "> ", isHidden: false)
    }

    static func decision(_ shown: ShownRequest, countdown: String?, on traits: ScreenTraits) -> PromptQuestion {
        var lines = [ScreenLine("Approve \(shown.subject)?", .strong)]
        if shown.warnings > 0 {
            let which = shown.warnings == 1 ? "warning" : "\(shown.warnings) warnings"
            lines.append(ScreenLine("Read the \(which) above first.", .warning))
        }
        lines.append(ScreenLine("a approve, d deny, f deny as fraud, s skip, ? help; then Enter"))
        return PromptQuestion(
            lines: lines, countdown: countdown, cue: traits.isPlain ? "Answer: " : "> ", isHidden: false)
    }

    static func pin(_ shown: ShownRequest, countdown: String?, on traits: ScreenTraits) -> PromptQuestion {
        let lines = [
            ScreenLine("PIN to approve \(shown.subject):", .strong),
            ScreenLine("What is typed is not shown. Enter alone goes back."),
        ]
        return PromptQuestion(lines: lines, countdown: countdown, cue: "PIN: ", isHidden: true)
    }
}
