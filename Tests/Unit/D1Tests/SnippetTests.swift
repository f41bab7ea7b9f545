import D1
import Foundation
import StrictJSON
import Testing

/// What the document shows is what runs here.
@MainActor
@Suite(.timeLimit(.minutes(20)))
struct SnippetTests {
    @Test func `the document has the snippet as it stands here`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
        let snippet = try String(contentsOf: root.appending(path: "Tests/Unit/D1Tests/Snippet.swift"), encoding: .utf8)
        let document = root.appending(path: "Sources/Agent/D1/D1.docc/GettingStarted.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        #expect(text.contains("```swift\n\(snippet)```"))
        let test = try String(contentsOf: root.appending(path: "Tests/Unit/D1Tests/CoffeeTest.swift"), encoding: .utf8)
        #expect(text.contains("```swift\n\(test)```"))
    }

    @Test func `the page about delegates has the two delegates as they stand here`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
        let page = root.appending(path: "Sources/Agent/D1/D1.docc/Delegates.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        for name in ["PaymentViewController", "PaymentDelegate"] {
            let delegate = root.appending(path: "Tests/Unit/D1Tests/\(name).swift")
            #expect(text.contains("```swift\n\(try String(contentsOf: delegate, encoding: .utf8))```"))
        }
    }

    @Test func `the test that the document has to copy pays for the coffee`() async throws {
        try await TestApp.run { app in try await payForCoffee(at: app.issuer.url) }
    }

    @Test func `the snippet enrolls, buys coffee, and nothing else`() async throws {
        try await TestApp.run { app in
            let code: @Sendable () async throws -> String = { try await app.issuer.enrollmentCode() }
            await #expect("nothing is pending") {
                try await buyCoffee(at: app.issuer.url, code: code, state: app.directory)
            } throws: { ($0 as? D1Error)?.cause?.name == "noRequest" }
            let coffee = try await app.issuer.purchase(["merchantName": "CoffeeHouse2"])
            // The first one ended with an error, before it came to its close.
            while await error(of: { () throws(D1Error) in try await configuredOnce(app) }) != nil, !Task.isCancelled {
                await Task.yield()
            }
            try await buyCoffee(at: app.issuer.url, code: code, state: app.directory)
            #expect(try await app.issuer.status(coffee) == "authenticated")
            let casino = try await app.issuer.purchase(["merchantName": "Casino"])
            await #expect("it was cancelled") {
                try await buyCoffee(at: app.issuer.url, code: code, state: app.directory)
            } throws: { ($0 as? D1Error)?.code == .cancelled }
            #expect(try await app.issuer.status(casino) == "notAuthenticated")
        }
    }

    private func configuredOnce(_ app: TestApp) async throws(D1Error) {
        let task = app.components.task()
        try await task.configure()
        await task.close()
    }
}
