import Foundation

@testable import Keys

/// The values of RFC 8291, Appendix A.
enum RFC8291 {
    static let plain = Array("When I grow up, I want to be a watermelon".utf8)
    static let receiver = base64url("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94")
    static let receiverPoint = base64url(
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
    static let sender = base64url("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")
    static let senderPoint = base64url(
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8")
    static let auth = base64url("BTBZMqHH6r4Tts7J_aSIgg")
    static let salt = base64url("DGv6ra1nlYgDCS1FRnbzlw")
    static let shared = base64url("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs")
    static let inputKey = base64url("S4lYMb_L0FxCeq0WhDx813KgSYqU26kOyzWUdsXYyrg")
    static let contentKey = base64url("oIhVW04MRdy2XN9CiKLxTg")
    static let nonce = base64url("4h_95klXJ5E_qnoN")
    static let header = base64url(
        """
        DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8
        """)
    static let record = base64url("8pfeW0KbunFT06SuDKoJH9Ql87S1QUrdirN6GcG7sFz1y1sqLgVi1VhjVkHsUoEsbI_0LpXMuGvnzQ")

    static func receiverKey() throws -> PushReceiverKey {
        try PushReceiverKey(secret: Secret(receiver + auth))
    }
}

/// Base64url without padding, as the RFCs print bytes.
func base64url(_ text: String) -> [UInt8] {
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
    return Data(base64Encoded: base64 + padding).map { [UInt8]($0) } ?? []
}
