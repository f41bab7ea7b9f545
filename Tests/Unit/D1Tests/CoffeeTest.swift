import D1
import Foundation
import FoundationNetworking
import Testing

/// Enrolls at a sandbox, starts a purchase there, and has the payer pay for it.
@MainActor
func payForCoffee(at issuer: String) async throws {
    var components = D1Task.Components()
    components.d1ServiceURLString = issuer
    components.stateDirectory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
    components.enrollmentCode = { try await post("{}", to: issuer + "/sandbox/enrollment-codes")["code"] ?? "" }
    components.pin = { _ in "4831" }
    let task = components.task()
    try await task.configure()
    let payer = CoffeeDrinker()
    let authn = try #require(task.d1Authn(payer))
    try await authn.enrollAuthnCredentials(.platform)
    _ = try await post(#"{"merchantName": "CoffeeHouse2"}"#, to: issuer + "/sandbox/purchases")
    // Throws unless the issuer takes the payer's approval.
    try await authn.fetchAuthnRequest()
    await task.close()
}

/// Posts JSON; returns the members of the answer that are text.
private func post(_ body: String, to address: String) async throws -> [String: String] {
    var request = URLRequest(url: try #require(URL(string: address)))
    request.httpMethod = "POST"
    request.httpBody = Data(body.utf8)
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    let answer = try await URLSession.shared.data(for: request).0
    let members = try JSONSerialization.jsonObject(with: answer) as? [String: Any] ?? [:]
    return members.compactMapValues { $0 as? String }
}
