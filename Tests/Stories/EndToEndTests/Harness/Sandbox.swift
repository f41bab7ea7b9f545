import Foundation
import FoundationNetworking
import Glibc
import Synchronization

/// `oob-issuer serve` on a database of its own, and the calls that drive it.
final class Sandbox: Sendable {
    let port: Int
    private let scenario: Scenario
    private let files: String
    private let child: Mutex<Child>

    var url: String { "http://localhost:\(port)" }
    private var database: String { "\(scenario.folder)/\(files).db" }

    /// Ready when it is made.
    ///
    /// The port is below those that the system hands out (ip(7)), so that it is free again after a stop.
    init(in scenario: Scenario, number: Int) async throws {
        self.scenario = scenario
        files = "issuer\(number)"
        for _ in 0..<20 {
            let port = Int.random(in: 20_000..<32_768)
            let child = try Self.launch(in: scenario, files, port)
            if try await Self.listens(child) {
                self.port = port
                self.child = Mutex(child)
                return
            }
        }
        throw Patience.Exceeded(description: "no port of twenty was free")
    }

    private static func launch(in scenario: Scenario, _ files: String, _ port: Int) throws -> Child {
        let database = "\(scenario.folder)/\(files).db"
        return try scenario.start(
            "oob-issuer", ["serve", "--listen", "localhost:\(port)", "--database", database],
            files: "\(files)-\(UUID().uuidString)")
    }

    /// False where it ended, as it does on a port that is taken.
    private static func listens(_ child: Child) async throws -> Bool {
        try await Patience.until("the line `listening on`") {
            if child.output.hasPrefix("listening on http://localhost:") { return true }
            return child.status == nil ? nil : false
        }
    }

    /// Takes it off the network, as a crash would.
    func goDown() async { await child.withLock(\.self).kill() }

    /// Brings it back on the same port, with what it knew.
    func comeBack() async throws {
        let child = try Self.launch(in: scenario, files, port)
        self.child.withLock { $0 = child }
        guard try await Self.listens(child) else {
            throw Patience.Exceeded(description: "the sandbox did not come back: \(child.errors)")
        }
    }

    /// Makes a call, and returns the answer whatever its status.
    func call(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> (status: Int, body: JSON) {
        guard let address = URL(string: url + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: address, timeoutInterval: 90)
        request.httpMethod = method
        if let body {
            request.httpBody = try body.serialized
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        let text = String(decoding: data, as: UTF8.self)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, text.isEmpty ? .null : try JSON(parsing: text))
    }

    /// Makes a call that has to succeed.
    private func answer(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> JSON {
        let (status, answer) = try await call(method, path, body)
        guard (200..<300).contains(status) else {
            throw Patience.Exceeded(description: "\(method) \(path) answers \(status): \(answer)")
        }
        return answer
    }

    /// An enrollment code.
    func code(_ options: JSON = [:]) async throws -> String {
        try await answer("POST", "/sandbox/enrollment-codes", options)["code"].text ?? ""
    }

    /// The link that a person would be given.
    func link() async throws -> String {
        try await answer("POST", "/sandbox/enrollment-codes", [:])["link"].text ?? ""
    }

    /// Starts a purchase and returns its acsTransId; members that are absent get the sandbox's defaults.
    @discardableResult
    func purchase(_ members: JSON = [:]) async throws -> String {
        try await answer("POST", "/sandbox/purchases", members)["acsTransId"].text ?? ""
    }

    /// What has happened to a purchase; waits for its end where `wait` says for how many seconds.
    func timeline(_ acsTransId: String, wait: Int = 0) async throws -> JSON {
        try await answer("GET", "/sandbox/purchases/\(acsTransId)?wait=\(wait)")
    }

    /// The story of a purchase, once it has ended: an agent that could not reach its issuer waits longer from try to try.
    func ending(_ acsTransId: String) async throws -> JSON {
        for _ in 1...4 {
            let story = try await timeline(acsTransId, wait: 60)
            if story["status"] != "pending" { return story }
        }
        return try await timeline(acsTransId)
    }

    /// The payer leaves.
    func cancel(_ acsTransId: String) async throws {
        _ = try await answer("POST", "/sandbox/purchases/\(acsTransId)/cancel")
    }

    /// Makes the next calls of a kind fail; `after`: they have their effect, and only the answer is lost.
    func fail(_ point: String, status: Int, times: Int, after: Bool = false) async throws {
        let fault: JSON = [
            "path": .string(point), "status": .number(Double(status)), "times": .number(Double(times)),
            "moment": after ? "after" : "before",
        ]
        _ = try await answer("POST", "/sandbox/faults", ["next": [fault]])
    }

    func authenticators() async throws -> [JSON] { try await answer("GET", "/sandbox/authenticators").elements }

    /// Takes an authenticator's access token back.
    func revoke(_ authenticatorId: String) async throws {
        _ = try await answer("POST", "/sandbox/authenticators/\(authenticatorId)/revoke")
    }

    /// Every token that the sandbox gave out: it keeps the answers of enrollments, to give the same ones again.
    var accessTokens: [String] {
        let bytes = ["", "-wal"].map { FileManager.default.contents(atPath: database + $0) ?? Data() }
        let text = bytes.map { String(decoding: $0, as: UTF8.self) }.joined()
        return Array(Set(text.matches(of: /"accessToken":"([^"]+)"/).map { String($0.1) }))
    }
}
