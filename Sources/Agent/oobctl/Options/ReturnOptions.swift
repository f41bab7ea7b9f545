import ArgumentParser
import Control
import FoundationEssentials
import LinuxProcess
import Prompting

/// `--open`, for all commands that decide: the destination of the return URL.
struct ReturnOptions: ParsableArguments {
    @Flag(help: "Open the return URL with xdg-open, if it is https:, instead of printing it.")
    var open = false

    @Option(
        help: ArgumentHelp(
            "Open this scheme too, such as merchantapp (OOB_OPEN_SCHEMES, with commas).", valueName: "scheme"))
    var openScheme: [String] = []

    func validate() throws {
        if !openScheme.isEmpty, !open { throw ValidationError("--open-scheme goes with --open.") }
        do throws(ControlError) { _ = try schemes() } catch { throw ValidationError(error.message) }
    }

    /// Emits the return URL of a decided request: once, byte for byte, to one destination only.
    ///
    /// - Parameter traits: of the terminal, if standard output is one.
    /// - Returns: sentences for the person.
    /// - Throws: if standard output cannot be written.
    func emit(_ request: RequestView, to output: Output, on traits: ScreenTraits? = nil) throws(ClientError)
        -> [String]
    {
        guard let url = request.threeDSRequestorAppURL, open else {
            try put(request, to: output, traits)
            return []
        }
        let problem = openingProblem(url)
        // With --json the request is output even if its URL is opened.
        if problem != nil || output.json { try put(request, to: output, traits) }
        return [problem.map { "Its return URL was not opened: \($0)." } ?? "Its return URL was handed to xdg-open."]
    }

    private func put(_ request: RequestView, to output: Output, _ traits: ScreenTraits?) throws(ClientError) {
        guard let traits, !output.json, let url = request.threeDSRequestorAppURL else {
            return try output.data(request) { $0.threeDSRequestorAppURL ?? "" }
        }
        guard let bytes = PromptScreen.link(to: url, traits) else {
            throw .unclear("The return URL has characters that no URL has; oobctl show --json \(request.id) has it.")
        }
        try output.bytes(bytes)
    }

    /// Opens the URL, and returns the reason if that failed or `nil` on success.
    private func openingProblem(_ url: String) -> String? {
        // The schemes were validated before the decision.
        guard let schemes = try? schemes(), schemes.allow(url) else {
            let scheme = OpenSchemes.scheme(of: url)
            return "\(scheme): is opened only with --open-scheme \(scheme)"
        }
        return URLOpener.open(url)
    }

    private func schemes() throws(ControlError) -> OpenSchemes {
        try OpenSchemes(openScheme, environment: ProcessInfo.processInfo.environment)
    }
}
