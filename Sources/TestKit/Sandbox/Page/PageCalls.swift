import StrictJSON

/// The sandbox's own calls, made inside the process.
struct PageCalls: Sendable {
    private static let maxAnswer = 16 * 1_048_576

    let router: SandboxRouter

    /// Makes a call and returns the object of its answer.
    ///
    /// - Throws: ``SandboxError`` with the answer's status and detail if the call was refused.
    func call(
        _ method: String, _ path: String, query: [String: String] = [:], body: JSONObject? = nil
    ) async throws -> JSONObject {
        let bytes = body.map { JSONValue.object($0).serialized() } ?? []
        let answer = await router.answer(to: Call(method, path, query: query, body: bytes))
        let json = try JSONReader.object(
            answer.body, limits: JSONLimits(maxBytes: Self.maxAnswer, maxValues: 1_000_000))
        guard answer.status < 300 else {
            throw SandboxError(status: answer.status, code: nil, detail: Shown.plain(json["detail"]))
        }
        return json
    }

    func story(of acsTransId: String) async throws -> JSONObject {
        try await call("GET", SandboxRoutes.purchases + "/" + acsTransId)
    }
}
