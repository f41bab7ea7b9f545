import Control
import StrictJSON
import TextAndTime

/// A command for a shell or a test suite: it decides a pending request, or shows another request.
struct CopiedCommand {
    let name: String
    let text: String

    static func all(for request: RequestView) -> [CopiedCommand] {
        [curl(request), oobctl(request), pytest(request)]
    }

    private static func curl(_ request: RequestView) -> CopiedCommand {
        let call = "curl --unix-socket \"$OOB_AGENT_SOCKET\" http://agent/v1/requests/\(request.id)"
        guard request.state == .pending, let digest = request.textDigest else {
            return CopiedCommand(name: "curl", text: call)
        }
        // Bound to the text on the page, as the page's own buttons are.
        let body = #"{"shownTextDigest": "\#(digest)", "expectShownText": true}"#
        return CopiedCommand(
            name: "curl", text: "\(call)/approve \\\n    -H 'Content-Type: application/json' -d '\(body)'")
    }

    private static func oobctl(_ request: RequestView) -> CopiedCommand {
        CopiedCommand(name: "oobctl", text: "oobctl \(request.state == .pending ? "approve" : "show") \(request.id)")
    }

    /// Returns a test for the pytest plugin, which repeats the purchase with a cardholder of its own.
    private static func pytest(_ request: RequestView) -> CopiedCommand {
        // None leaves out a member that would get a default.
        var members = [
            "purchaseAmount", "purchaseCurrency", "purchaseExponent", "purchaseDate", "threeDSRequestorAppURL",
        ].filter { request.transaction?[$0] == nil }.map { "        \"\($0)\": None,\n" }
        for (name, value) in (request.transaction ?? [:]).sorted(by: { $0.key < $1.key }) where name != "acsTransId" {
            members.append("        \(literal(name)): \(literal(value)),\n")
        }
        let expectation = request.amountText.map { ", expect_amount=\"\($0)\"" } ?? ""
        let decides =
            request.state == .denied ? "payer.deny(purchase)" : "payer.approve(purchase\(expectation))"
        return CopiedCommand(
            name: "pytest",
            text: """
                def test_this_payment(issuer, cardholder):
                    payer = cardholder()
                    purchase = issuer.purchase(payer, **{
                \(members.joined())    })
                    \(decides)
                    assert purchase.outcome() == "\(request.state == .denied ? "notAuthenticated" : "authenticated")"
                """)
    }

    /// Returns a string literal; JSON's syntax of strings is valid in Python.
    private static func literal(_ text: String) -> String {
        ShownJSON.escaped(String(decoding: JSONValue.string(text).serialized(), as: UTF8.self))
    }
}
