import HTTPTypes
import Hummingbird
import Keys
import Logging
import PageServing
import StrictJSON
import TextAndTime

/// The actions of the page's forms.
extension SandboxPage {
    /// Runs the action of a form, and redirects to the page with its result; a refusal is shown on the form's page.
    func done(_ request: Request) async -> Response {
        guard let body = try? await request.body.collect(upTo: PageForm.maxBytes) else {
            return PageAnswer.notice(
                "Nothing was done", "The form is too long: \(PageForm.maxBytes) bytes are allowed.", .contentTooLarge)
        }
        guard let form = PageForm(Array(body.readableBytesView)) else {
            return PageAnswer.notice(
                "Nothing was done", "The form cannot be read: each of its fields may be there once.", .badRequest)
        }
        guard ConstantTime.equal(Array((form["token"] ?? "").utf8), Array(token.utf8)) else {
            return PageAnswer.notice(
                "Nothing was done",
                "The form is not one of this page, or it is from before the sandbox was started again. Go back and "
                    + "reload the page.", .forbidden)
        }
        let parts = request.uri.path.split(separator: "/").map(String.init)
        if parts.first == "purchases", parts.count == 3 { return await change(parts[1], by: parts[2]) }
        return await order(parts.joined(separator: "/"), form)
    }

    /// Runs an action of the home page.
    private func order(_ action: String, _ form: PageForm) async -> Response {
        do {
            switch action {
            case "purchases": return PageAnswer.redirect(to: try await purchase(form))
            case "page/codes": _ = try await calls.call("POST", SandboxRoutes.enrollmentCodes)
            case "page/clock":
                let advance = try ClockAdvance(form["advance"] ?? "")
                let body: JSONObject = ["advanceSeconds": .integer(advance.seconds)]
                _ = try await calls.call("POST", SandboxRoutes.clock, body: body)
            case "page/faults": try await setFaults(form)
            default: return PageAnswer.notice("Not found", "There is no such form.", .notFound)
            }
            return PageAnswer.redirect(to: "/")
        } catch {
            return await refused(error) { problem in
                try await HomePage(of: self, fields: PurchaseFields { form[$0] }, problem: problem).page
            }
        }
    }

    /// Starts a purchase and returns the address of its page.
    private func purchase(_ form: PageForm) async throws -> String {
        var order = PurchaseFields { form[$0] }.order
        if let name = form["preset"] {
            guard let preset = Preset(rawValue: name) else {
                let names = Preset.allCases.map(\.rawValue).joined(separator: ", ")
                throw SandboxError.badRequest("preset: must be one of \(names)")
            }
            let authenticator = order["authenticatorId"]
            order = preset.order
            order["authenticatorId"] = authenticator
        }
        let made = try await calls.call("POST", SandboxRoutes.purchases, body: order)
        return Self.purchases + "/" + Shown.plain(made["acsTransId"])
    }

    private func setFaults(_ form: PageForm) async throws {
        guard form["do"] != "clear" else {
            _ = try await calls.call("DELETE", SandboxRoutes.faults, query: ["odds": "true"])
            return
        }
        let odds = form["odds"].flatMap { $0.isEmpty ? nil : $0 }
        let next = (form["next"] ?? "").split(whereSeparator: \.isNewline).map(String.init)
        _ = try await calls.call("POST", SandboxRoutes.faults, body: FaultOrder.body(odds: odds, next: next))
    }

    /// Runs an action of a purchase's page.
    private func change(_ acsTransId: String, by action: String) async -> Response {
        let path = SandboxRoutes.purchases + "/" + acsTransId
        do {
            let story: JSONObject
            switch action {
            case "cancel": story = try await calls.call("POST", path + "/cancel")
            case "replay": story = try await calls.call("POST", path + "/replay")
            case "again": story = try await calls.call("POST", path + "/replay", body: ["asNew": true])
            default: return PageAnswer.notice("Not found", "There is no such form.", .notFound)
            }
            return PageAnswer.redirect(to: Self.purchases + "/" + Shown.plain(story["acsTransId"]))
        } catch {
            return await refused(error) { problem in
                try await PurchasePage(of: calls.story(of: acsTransId), token: token, problem: problem).page
            }
        }
    }

    /// Returns the page of the form with the error, or a notice if that page cannot be made.
    private func refused(
        _ error: any Error, _ page: (_ problem: String) async throws -> RenderedPage
    ) async -> Response {
        let refusal: SandboxError
        switch error {
        case let error as SandboxError: refusal = error
        case let error as ClockAdvance.Refusal: refusal = .badRequest("advanceSeconds: \(error)")
        default:
            backend.logger.error("a form failed", metadata: ["error": "\(error)"])
            refusal = SandboxError(status: 500, code: nil, detail: "The sandbox failed; its log says why.")
        }
        let status = HTTPResponse.Status(code: refusal.status)
        let problem = PurchaseFields.sentence(refusal.detail)
        do { return PageAnswer.page(try await page(problem), status) } catch {
            return PageAnswer.notice(status == .notFound ? "Not found" : "Not done", problem, status)
        }
    }
}
