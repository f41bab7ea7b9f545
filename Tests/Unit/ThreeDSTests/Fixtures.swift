import Foundation
import ThreeDS

enum Fixture {
    /// The package's directory.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized

    /// The members of a transaction that is in order, in the order in which an issuer would write them.
    static let members: [TransactionMember] = [
        TransactionMember(name: "acsTransId", value: "2f37539c-d82e-4929-88db-2f9e72c7fa62"),
        TransactionMember(name: "merchantName", value: "CoffeeHouse2 (Dæmø)"),
        TransactionMember(name: "purchaseAmount", value: "100"),
        TransactionMember(name: "purchaseCurrency", value: "840"),
        TransactionMember(name: "purchaseExponent", value: "2"),
        TransactionMember(name: "purchaseDate", value: "20231017055638"),
        TransactionMember(name: "threeDSRequestorAppURL", value: "https://merchant.example/return?transID=1"),
    ]

    /// The same with members replaced or appended, and those removed whose value is nil.
    static func members(_ changes: KeyValuePairs<String, String?>) -> [TransactionMember] {
        var members = members
        for (name, value) in changes {
            let replacement = value.map { TransactionMember(name: name, value: $0) }
            if let index = members.firstIndex(where: { $0.name == name }) {
                members.replaceSubrange(index...index, with: replacement.map { [$0] } ?? [])
            } else if let replacement {
                members.append(replacement)
            }
        }
        return members
    }

    static func transaction(_ changes: KeyValuePairs<String, String?> = [:]) throws -> Transaction {
        try Transaction(members: members(changes))
    }

    /// The code of the refusal; nil where the transaction is in order.
    static func refusal(_ changes: KeyValuePairs<String, String?>) -> TransactionRefusal? {
        refusal(of: members(changes))
    }

    static func refusal(of members: [TransactionMember]) -> TransactionRefusal? {
        do throws(TransactionRefusal) {
            _ = try Transaction(members: members)
            return nil
        } catch {
            return error
        }
    }
}
