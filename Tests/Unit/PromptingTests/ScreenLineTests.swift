import Control
import Testing

@testable import Prompting

/// Text is set within the columns that there are, and nothing of it is left out.
struct ScreenLineTests {
    private static func rows(_ text: String, indent: Int = 0, columns: Int) -> [String] {
        ScreenLine(text, indent: indent).rows(Sample.traits(columns: columns))
    }

    @Test func `a line breaks at spaces and goes on below its value`() {
        #expect(
            Self.rows("Date:       2023-10-17 05:56:38 UTC (+00:00)", indent: 12, columns: 40)
                == ["Date:       2023-10-17 05:56:38 UTC", "            (+00:00)"])
    }

    @Test func `a word that fits no row is broken where the row ends`() {
        #expect(
            Self.rows("acsTransId: 2f37539c-d82e-4929-88db-2f9e72c7fa62", indent: 12, columns: 40)
                == ["acsTransId: 2f37539c-d82e-4929-88db-2f9", "            e72c7fa62"])
    }

    @Test(arguments: [10, 11, 20, 39, 40, 41, 79, 80])
    func `no row takes more than the columns but one, and all text is there`(columns: Int) {
        for line in Sample.text.split(separator: "\n").map(String.init) + ["喫茶店 喫茶店喫茶店喫茶店", "e\u{301}e\u{301} x", ""] {
            let rows = Self.rows(line, indent: 12, columns: columns)
            #expect(rows.allSatisfy { TerminalText.columns($0) < columns })
            #expect(rows.joined().filter { $0 != " " } == line.filter { $0 != " " })
        }
    }

    @Test func `what stands out stands alone, in the agent's order`() throws {
        let request = try #require(ShownRequest(Sample.request()))
        let lines = RequestScreen.lines(request)
        #expect(
            lines.map(\.text) == [
                "", "Request r1", "", "Amount:     USD 1.00", "", "Merchant:   CoffeeHouse2 (Dæmø)",
                "Issuer:     https://issuer.example", "", "Warning:    a test authenticator", "",
                "Member note: Warning: none", "",
            ])
        #expect(lines.filter { $0.style == .headline }.map(\.text) == ["Amount:     USD 1.00"])
        #expect(lines.filter { $0.style == .warning }.map(\.text) == ["Warning:    a test authenticator"])
    }

    @Test func `a terminal that does not say its size has 80 columns`() {
        #expect(Sample.traits(columns: 0).columns == 80)
        #expect(Sample.traits(columns: 1).columns == 10)
    }
}
