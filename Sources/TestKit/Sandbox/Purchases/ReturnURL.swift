import StrictJSON
import ThreeDS

/// The threeDSRequestorAppURL with the SDK's transaction ID.
///
/// A 3DS SDK appends the ID, so that the app knows which purchase the payer returns from.
enum ReturnURL {
    private static let parameter = "transID="

    /// Returns `url?transID=sdkTransID`, or `url&transID=sdkTransID` if the URL has a query.
    ///
    /// A fragment stays last. The rest of the URL does not change.
    static func text(_ url: String, sdkTransID: String) -> String {
        let end = url.firstIndex(of: "#") ?? url.endIndex
        let base = url[..<end]
        let separator = !base.contains("?") ? "?" : base.last == "?" || base.last == "&" ? "" : "&"
        return base + separator + parameter + sdkTransID + url[end...]
    }

    /// Replaces an earlier purchase's ID in a URL; a URL without it stays the same.
    static func text(_ url: String, replacing old: String, with new: String) -> String {
        url.replacing(parameter + old, with: parameter + new, maxReplacements: 1)
    }

    /// Appends the ID to the URL of an order that has `appendTransID`.
    static func complete(_ order: JSONObject, sdkTransID: String) throws -> JSONObject {
        guard try order.optionalBool("appendTransID") == true else { return order }
        guard case .string(let url)? = order["threeDSRequestorAppURL"] else {
            throw SandboxError.badRequest("appendTransID: must come with a threeDSRequestorAppURL")
        }
        let whole = text(url, sdkTransID: sdkTransID)
        let bytes = whole.utf8.count
        guard bytes <= 256 else {
            throw SandboxError.badRequest(
                "threeDSRequestorAppURL: must have at most \(256 - bytes + url.utf8.count) bytes here, it has \(url.utf8.count); with the transID that the SDK appends at most 256"
            )
        }
        var order = order
        order["threeDSRequestorAppURL"] = .string(whole)
        return order
    }
}
