import ArgumentParser
import Control

/// The options of many enrollments in one run.
struct FleetOptions: ParsableArguments {
    /// What a run is called that has no name.
    static let defaultName = "fleet"

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Make so many enrollments, 1 to 100000, with names NAME-00001 and so on; those that are there already count, so "
                + "an interrupted run goes on.", valueName: "n"))
    var count: Int?

    @Option(
        help: ArgumentHelp(
            "With --count: what prints each code or link, as one line; run by /bin/sh -c, with OOB_ENROLLMENT_NAME set.",
            valueName: "command"))
    var codeCommand: String?

    @Option(
        help: ArgumentHelp("How long one run of that command may take, 1 to 600. Default: 30.", valueName: "seconds"))
    var codeTimeout: Int?

    @Option(
        help: ArgumentHelp(
            "With --count and --authn-type test: personas with their odds, drawn by --seed, such as autoApprove=0.9,autoDeny=0.1. "
                + "If the odds sum to less than 1, the rest has none.",
            valueName: "list"))
    var personas: String?

    func validate() throws {
        try Usage.check(count, in: FleetNames.counts, option: "--count")
        try Usage.check(codeTimeout, in: CodeCommand.deadlines, option: "--code-timeout")
        guard count != nil || codeCommand == nil && codeTimeout == nil && personas == nil else {
            throw ValidationError("--code-command, --code-timeout and --personas go with --count.")
        }
        guard (count == nil) == (codeCommand == nil) else {
            throw ValidationError("--count takes --code-command: what prints a code or link for each enrollment.")
        }
        guard codeCommand?.isEmpty != true else { throw ValidationError("--code-command must not be empty.") }
    }
}
