import ArgumentParser
import Conformance
import Foundation
import LinuxProcess
import Versioning

/// The options of both kinds of run: the choice of cases, the order of play, and the output files.
struct RunOptions: ParsableArguments {
    @Option(help: "The tested side's file; `oob-conform init` writes one.", completion: .file())
    var config: String?

    @Option(
        help: "The directory of the cases; by default the installed ones, or conformance/cases.", completion: .directory
    )
    var cases: String?

    @Option(name: .customLong("case"), help: "Play this case alone; may be given again.")
    var names: [String] = []

    @Option(
        name: .customLong("section"), help: "Play the cases of this section of the protocol alone; may be given again.")
    var sections: [String] = []

    @Option(help: "A number that orders the cases; by default another one each time, which is printed.")
    var seed: UInt64?

    @Option(help: "How many cases are played at a time.")
    var jobs = 4

    @Option(help: "How many seconds the run may take, 1 to 86400; cases that come later are not run.")
    var timeLimit = RunLimit.standardSeconds

    @Flag(help: "Print the cases that would be played, and play none.")
    var list = false

    @Option(name: .customLong("json"), help: "Write the outcome as JSON; - is standard output.", completion: .file())
    var json: String?

    @Option(help: "Write JUnit's XML.", completion: .file())
    var junit: String?

    @Option(help: "Write one page of HTML.", completion: .file())
    var html: String?

    @Option(help: "Write a line of Markdown with the counts.", completion: .file())
    var badge: String?

    func validate() throws {
        guard (1...64).contains(jobs) else { throw ValidationError("--jobs must be 1 to 64.") }
        guard (1...86_400).contains(timeLimit) else {
            throw ValidationError("--time-limit must be 1 to 86400 (seconds).")
        }
    }

    var directory: CaseDirectory {
        get throws {
            guard let path = cases ?? CaseDirectory.standard(program: Self.program) else {
                throw CaseFileError("there is no conformance/cases here; name the directory of the cases with --cases")
            }
            return CaseDirectory(path)
        }
    }

    private static var program: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    }

    /// Returns whether a case is chosen.
    func takes(_ header: CaseHeader) -> Bool {
        (names.isEmpty || names.contains(header.name)) && (sections.isEmpty || sections.contains { header.isIn($0) })
    }

    /// Verifies that each chosen name and section has a case.
    func expectKnown(against headers: [CaseHeader]) throws {
        for name in names where !headers.contains(where: { $0.name == name }) {
            throw CaseFileError("--case \(name): there is no such case; --list shows them")
        }
        for section in sections where !headers.contains(where: { $0.isIn(section) }) {
            throw CaseFileError("--section \(section): no case is of this section; --list shows them")
        }
        guard headers.contains(where: takes) else {
            throw CaseFileError("no case is of the chosen sections and names")
        }
    }

    /// Plays the cases, reports, and throws the exit status of the outcome.
    func play(
        _ side: String, _ tested: String, _ playable: [PlayableCase], limit: RunLimit, without secrets: KnownSecrets
    ) async throws {
        let run = CaseRun(seed: seed ?? UInt64.random(in: 0...9_999_999), jobs: jobs, limit: limit)
        let (bar, began) = (ProgressBar(total: playable.count), ContinuousClock.now)
        let outcomes = await run.outcomes(of: playable) { bar.advance($0.header.name) }
        bar.clear()
        let outcome = RunOutcome(
            side: side, tested: tested, seed: run.seed,
            milliseconds: Int(began.duration(to: .now) / .milliseconds(1)), cases: outcomes, secrets: secrets)
        let report = RunReport(outcome, version: SoftwareVersion.text)
        if let junit { try output.write(report.junit, to: junit) }
        if let html { try output.write(report.html, to: html) }
        if let badge { try output.write(report.badge + "\n", to: badge) }
        if json == "-" {
            try output.data(report.json)
        } else {
            if let json { try output.write(report.json + "\n", to: json) }
            try output.data(report.table)
        }
        throw ExitCode(outcome.exitStatus)
    }

    /// Prints the chosen cases, one a line.
    func show(_ headers: [CaseHeader]) throws {
        for header in headers.filter(takes) {
            try output.data("\(header.section)  \(header.name) (\(header.level.rawValue)): \(header.title)")
        }
    }
}

/// Runs `work`; an error that prevents a run is printed in one line, with exit status 2.
func runnable(_ work: () async throws -> Void) async throws {
    do { try await work() } catch let error as CaseFileError {
        output.message(error.description)
        throw ExitCode(2)
    }
}
