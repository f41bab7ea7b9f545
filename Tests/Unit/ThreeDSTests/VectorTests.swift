import Foundation
import Testing
import ThreeDS

struct VectorTests {
    struct Vector: Decodable {
        struct Total: Decodable { let currency, value: String }
        let transaction: [String: String]
        let total: Total
    }

    @Test func `every published transaction parses to its published amount`() throws {
        let file = Fixture.root.appending(path: "Tests/Fixtures/Vectors/challenge.json")
        let vectors = try JSONDecoder().decode([Vector].self, from: Data(contentsOf: file))
        #expect(vectors.count == 28)
        for vector in vectors {
            let members = vector.transaction.map { TransactionMember(name: $0.key, value: $0.value) }
            let purchase = try #require(try Transaction(members: members).purchase)
            #expect(purchase.majorUnits == vector.total.value)
            #expect(purchase.currency.alphabetic == vector.total.currency)
            #expect(try ExpectedAmount("\(vector.total.currency) \(vector.total.value)").holds(for: purchase))
            #expect(try ExpectedAmount(purchase.display).holds(for: purchase))
        }
    }
}
