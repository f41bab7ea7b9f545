import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import StrictJSON
import ThreeDS

/// What became of one purchase.
struct LoadResult: Sendable {
    let acsTransId: String
    let status: String
    /// Milliseconds since 1970, by the sandbox's clock.
    let startedAt: Int64?
    /// The same, if a decision ended it.
    let decidedAt: Int64?

    var isDecided: Bool { decidedAt != nil }
    var milliseconds: Int64? {
        guard let startedAt, let decidedAt else { return nil }
        return max(0, decidedAt.seconds(since: startedAt))
    }
}

extension SandboxClient {
    /// The ids of the authenticators that are active.
    func activeAuthenticators() async throws(CallError) -> [String] {
        let list = try await callForList(.GET, SandboxRoutes.authenticators)
        return list.compactMap { one in
            guard case .object(let object) = one, object["state"] == "active" else { return nil }
            return try? object.string("id")
        }
    }

    func hasPending() async throws(CallError) -> Bool {
        let answer = try await call(.GET, SandboxRoutes.purchases + "?status=pending&limit=1", body: nil)
        return !Shown.objects(answer["purchases"]).isEmpty
    }

    /// What became of these purchases, which are the newest of the sandbox or among them.
    func results(of ids: Dictionary<String, Int64>.Keys) async throws(CallError) -> [LoadResult] {
        var missing = Set(ids)
        var results: [LoadResult] = []
        var after: String?
        while !missing.isEmpty {
            let answer = try await call(
                .GET, SandboxRoutes.purchases + "?limit=1000" + (after.map { "&after=\($0)" } ?? ""), body: nil)
            for purchase in Shown.objects(answer["purchases"]) {
                guard let id = try? purchase.string("acsTransId"), missing.remove(id) != nil else { continue }
                let isDecided = ["authenticated", "notAuthenticated"].contains(Shown.text(purchase["status"]))
                results.append(
                    LoadResult(
                        acsTransId: id, status: Shown.text(purchase["status"]),
                        startedAt: try? purchase.integer("startedAtMilliseconds"),
                        decidedAt: isDecided ? try? purchase.integer("completedAtMilliseconds") : nil))
            }
            guard let next = answer["next"] else { break }
            after = Shown.text(next)
        }
        return results
    }
}

/// Starts purchases over connections that it keeps.
struct LoadSender: Sendable {
    let client: HTTPClient
    let url: String

    /// Returns the acsTransId.
    func startPurchase(_ authenticatorId: String) async throws(SandboxClient.CallError) -> String {
        var request = HTTPClientRequest(url: url + SandboxRoutes.purchases)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        let body: JSONObject = ["authenticatorId": .string(authenticatorId)]
        request.body = .bytes(ByteBuffer(bytes: JSONValue.object(body).serialized()))
        do {
            let response = try await client.execute(request, timeout: .seconds(30))
            let bytes = Array(try await response.body.collect(upTo: 1_048_576).readableBytesView)
            let answer = try JSONReader.object(bytes, limits: JSONLimits(maxBytes: 1_048_576))
            guard response.status.code == 201 else {
                throw SandboxClient.CallError.refused(
                    "HTTP status \(response.status.code): \(Shown.text(answer["detail"]))")
            }
            return try answer.string("acsTransId")
        } catch let error as SandboxClient.CallError {
            throw error
        } catch let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout {
            throw .refused("no answer within 30 s")
        } catch is JSONError {
            throw .refused("the answer is not a sandbox's")
        } catch is JSONMemberError {
            throw .refused("the answer is not a sandbox's")
        } catch { throw .refused("the connection failed") }
    }

    func close() async { try? await client.shutdown() }
}
