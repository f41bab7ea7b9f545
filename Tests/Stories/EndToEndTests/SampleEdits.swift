import Foundation
import Testing

/// The table of the page about D1's samples, held against the compiler: each error that it quotes, and each edit.
@Suite struct SampleEdits {
    struct Edit: Sendable, CustomTestStringConvertible {
        /// The beginning of the compiler's error, as the page quotes it.
        let error: String
        let before: String
        let after: String

        var testDescription: String { error }
    }

    /// Lines of our own that have the faults of the published samples.
    static let edits = [
        Edit(
            error: "no such module 'UIKit'",
            before: "import UIKit\nlet alert = UIAlertController.self",
            after: "import UIKitStub\nlet alert = UIAlertController.self"),
        Edit(
            error: "value of optional type 'D1Authn?' must be unwrapped",
            before: inFetch("let authn = task.d1Authn(delegate)\n    authn.fetchAuthnRequest { _ in }"),
            after: inFetch(
                "guard let authn = task.d1Authn(delegate) else { return }\n    authn.fetchAuthnRequest { _ in }")),
        Edit(
            error: "cannot find 'd1Authn' in scope",
            before: inFetch("task.d1Authn(delegate)\n    d1Authn.fetchAuthnRequest { _ in }"),
            after: inFetch("let d1Authn = task.d1Authn(delegate)\n    d1Authn?.fetchAuthnRequest { _ in }")),
        Edit(
            error: "cannot find 'transaction' in scope",
            before: inDelegate("", more: "func address() -> String? { transaction[\"threeDSRequestorAppURL\"] }"),
            after: inDelegate(
                "transaction = transactionData",
                more: """
                    var transaction: [String: String] = [:]
                    func address() -> String? { transaction["threeDSRequestorAppURL"] }
                    """)),
        Edit(
            error: "missing return in instance method expected to return 'String'",
            before: inDelegate("", more: "func authnTouchIDOperationPrompt(_ authn: D1Authn) -> String {}"),
            after: inDelegate("", more: "")),
        Edit(
            error: "value of optional type 'String?' must be unwrapped to a value of type 'String'",
            before: inDelegate(#"_ = URL(string: transactionData["threeDSRequestorAppURL"])"#, more: ""),
            after: inDelegate(
                #"if let text = transactionData["threeDSRequestorAppURL"] { _ = URL(string: text) }"#, more: "")),
    ]

    private static func inFetch(_ lines: String) -> String {
        "import D1\n@MainActor func fetch(by task: D1Task, asking delegate: any AuthnDelegate) {\n    \(lines)\n}"
    }

    private static func inDelegate(_ lines: String, more: String) -> String {
        """
        import D1
        import Foundation
        final class Delegate: AuthnDelegate {
            func authn(
                _ authn: D1Authn, shouldConfirmTransactionData transactionData: [String: String],
                proceedHandler: @escaping () -> Void, cancelHandler: @escaping () -> Void
            ) {
                \(lines)
            }
            \(more)
        }
        """
    }

    /// Compiles a file against the built modules, without a product, and returns what the compiler says.
    private func compiled(_ text: String, _ scenario: Scenario) async throws -> (Int32?, String) {
        let file = "\(scenario.folder)/\(UUID().uuidString).swift"
        try Data(text.utf8).write(to: URL(filePath: file))
        let programs = try #require(BuiltPrograms.directory).resolvingSymlinksInPath()
        let path = try #require(ProcessInfo.processInfo.environment["PATH"])
        let child = try Child(
            "\(try #require(Toolchain.folder, "there is no swift on PATH"))/swiftc",
            [
                "-emit-sil", "-o", "/dev/null", "-swift-version", "6", "-I", programs.appending(path: "Modules").path(),
                "-module-cache-path", programs.appending(path: "ModuleCache").path(),
            ]
                + maps(beside: programs).flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] } + [file],
            environment: ["PATH": path, "HOME": scenario.folder], files: file)
        let status = try await child.exitStatus(within: .seconds(600))
        return (status, child.output + child.errors)
    }

    /// The maps of the modules in C below D1, which a build gives to the compiler.
    private func maps(beside programs: URL) -> [String] {
        let packages = inside(programs.appending(path: "../../checkouts").standardized)
        let targets = packages.flatMap { inside($0.appending(path: "Sources")) }
        let folders =
            inside(BuiltPrograms.checkout.appending(path: "Sources")).flatMap(inside) + inside(programs)
            + targets + targets.map { $0.appending(path: "include") }
        return folders.map { $0.appending(path: "module.modulemap").path() }
            .filter(FileManager.default.fileExists(atPath:))
    }

    private func inside(_ folder: URL) -> [URL] {
        (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    }

    @Test(arguments: edits)
    func `the page quotes the compiler's error, and its edit compiles`(_ edit: Edit) async throws {
        let page = BuiltPrograms.checkout.appending(path: "Sources/Agent/D1/D1.docc/DifferencesFromD1.md")
        #expect(try String(contentsOf: page, encoding: .utf8).contains("| `\(edit.error)`"))
        try await Scenario.run { scenario in
            let before = try await compiled(edit.before, scenario)
            #expect(before.0 == 1)
            #expect(before.1.contains("error: \(edit.error)"), "\(before.1)")
            let after = try await compiled(edit.after, scenario)
            #expect(after.0 == 0, "\(after.1)")
        }
    }
}
