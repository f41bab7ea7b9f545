import StrictJSON

/// Purchases that one click starts; each is of a kind that apps often get wrong.
enum Preset: String, CaseIterable {
    case coffee, yen, dinar, digits, hostile, url

    var title: String {
        switch self {
        case .coffee: "Coffee, USD 4.50"
        case .yen: "JPY 1200, no decimals"
        case .dinar: "BHD 12.345, three decimals"
        case .digits: "48 digits"
        case .hostile: "Hostile name"
        case .url: "211-character URL"
        }
    }

    /// The body of the call that starts the purchase.
    var order: JSONObject {
        switch self {
        case .coffee: Self.order("CoffeeHouse2", "450", "840", "2")
        case .yen: Self.order("Kissaten Kyoto", "1200", "392", "0")
        case .dinar: Self.order("Manama Books", "12345", "048", "3")
        case .digits: Self.order("Treasury", "123456789012345678901234567890123456789012345678", "840", "2")
        // Markup, a character that reverses the direction of the text, and an invisible character.
        case .hostile: Self.order("<img src=x onerror=alert(1)>\u{202E}knaB\u{200B}", "100", "840", "2")
        case .url: Self.order("Return Shop", "100", "840", "2", url: Self.longURL)
        }
    }

    /// The longest URL that leaves room for the transID of an SDK.
    static let longURL = "https://merchant.example/return?order=" + String(repeating: "0123456789", count: 17) + "abc"

    private static func order(
        _ merchant: String, _ amount: String, _ currency: String, _ exponent: String, url: String? = nil
    ) -> JSONObject {
        var order: JSONObject = [
            "merchantName": .string(merchant), "purchaseAmount": .string(amount),
            "purchaseCurrency": .string(currency), "purchaseExponent": .string(exponent),
        ]
        order["threeDSRequestorAppURL"] = url.map(JSONValue.string)
        return order
    }
}

/// The form fields of a custom purchase.
struct PurchaseFields: Sendable {
    /// The names of the fields: in the form, on the page, and in the call.
    static let names = [
        ("merchant", "Merchant", "merchantName"), ("amount", "Amount", "purchaseAmount"),
        ("currency", "Currency", "purchaseCurrency"), ("exponent", "Exponent", "purchaseExponent"),
        ("url", "App URL", "threeDSRequestorAppURL"), ("authenticator", "Authenticator", "authenticatorId"),
    ]

    private(set) var values = [
        "merchant": "CoffeeHouse2", "amount": "100", "currency": "840", "exponent": "2", "url": "", "authenticator": "",
    ]

    init() {}

    /// Reads the fields of a form; missing fields are empty.
    init(_ field: (String) -> String?) {
        for (name, _, _) in Self.names { values[name] = field(name) ?? "" }
    }

    var order: JSONObject {
        var order: JSONObject = [:]
        for (name, _, member) in Self.names {
            let value = values[name] ?? ""
            // Without these two, the purchase has no return URL and is for the newest enrollment.
            if value.isEmpty, ["url", "authenticator"].contains(name) { continue }
            order[member] = .string(value)
        }
        return order
    }

    /// Replaces the member at the start of a refusal with the name on the page.
    static func sentence(_ detail: String) -> String {
        let others = [("", "Advance by", "advanceSeconds"), ("", "Odds", "odds"), ("", "Next calls", "next")]
        let member = detail.prefix { $0.isLetter }
        guard let (_, title, _) = (names + others).first(where: { $0.2 == member }) else { return detail }
        return title + detail.dropFirst(member.count)
    }
}
