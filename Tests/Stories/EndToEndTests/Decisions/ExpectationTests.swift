import Testing

@Suite struct ExpectationTests {
    static let purchase: JSON = [
        "merchantName": "CoffeeHouse2 (Dæmø)", "purchaseAmount": "100", "purchaseCurrency": "840",
        "purchaseExponent": "2", "acsTransId": "2f37539c-d82e-4929-88db-2f9e72c7fa62",
    ]

    @Test(arguments: [
        ["--expect-amount", "USD 1.01"], ["--expect-amount", "EUR 1.00"], ["--expect-amount", "USD 100.00"],
        ["--expect-merchant", "CoffeeHouse2"], ["--expect-merchant", "coffeehouse2 (dæmø)"],
        // It looks alike, and Unicode has no equivalence of the two.
        ["--expect-merchant", "CoffeeHouse2 (Dæmo\u{338})"],
        ["--expect-acs-trans-id", "2f37539c-d82e-4929-88db-2f9e72c7fa63"],
        ["--expect-amount", "USD 1.00", "--expect-merchant", "another"],
    ])
    func `an expectation that does not hold decides nothing`(expectation: [String]) async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = try await sandbox.purchase(Self.purchase)
            _ = try await agent.received(id)
            for verb in ["approve", "deny"] {
                let broken = try await agent.ctl([verb, id] + expectation, exits: 4)
                #expect(broken.output.isEmpty)
                #expect(broken.errors.contains("nothing was decided"))
            }
            let still = try await agent.json("show", id)
            #expect(still["state"] == "pending")
            #expect(still["delivery"] == "none")

            try await agent.ctl(
                "approve", id, "--expect-amount", "USD 1.00", "--expect-merchant", "CoffeeHouse2 (Dæmø)",
                "--expect-acs-trans-id", "2F37539C-D82E-4929-88DB-2F9E72C7FA62")
            #expect(try await sandbox.ending(id)["status"] == "authenticated")
        }
    }

    /// Names that are read alike by someone who forgets the escapes: each expectation is for one of them only.
    @Test(arguments: [
        ("日本\u{3000}商店", ["日本\u{3000}商店"], [#"日本\u{3000}商店"#]),
        ("Pay\u{200D}Pal", [#"Pay\u{200D}Pal"#, "Pay\u{200D}Pal"], [#"Pay\\u{200D}Pal"#, "PayPal"]),
        (#"Pay\u{200D}Pal"#, [#"Pay\\u{200D}Pal"#], [#"Pay\u{200D}Pal"#, "Pay\u{200D}Pal"]),
        ("Caf\u{E9}", ["Caf\u{E9}"], ["Cafe\u{301}", "Cafe"]),
        (#"C\D"#, [#"C\D"#, #"C\\D"#], [#"C\\\\D"#]),
    ])
    func `a merchant's name is expected as it is shown or as it came, and no other name passes`(
        name: String, same: [String], other: [String]
    ) async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            for text in same {
                let id = try await sandbox.purchase(["merchantName": .string(name)])
                _ = try await agent.received(id)
                for wrong in other {
                    try await agent.ctl("approve", id, "--expect-merchant", wrong, exits: 4)
                }
                try await agent.ctl("approve", id, "--expect-merchant", text)
            }
        }
    }

    @Test func `an amount that is not written out is refused with what is allowed`() async throws {
        try await Scenario.run { scenario in
            let (sandbox, agent) = try await scenario.enrolled()
            let id = try await sandbox.purchase(Self.purchase)
            _ = try await agent.received(id)
            let malformed = [
                "1,00", "1.00", "USD 1,00", "USD 1", "USD", "usd 1.00", "USD 1.00 ", "USD 1e2", "USD -1.00", "",
                "1.000", "USD 1.000,00",
            ]
            for amount in malformed {
                let refused = try await agent.ctl("approve", id, "--expect-amount", amount, exits: 64)
                #expect(refused.errors.contains("--expect-amount"))
            }
            let example = try await agent.ctl("approve", id, "--expect-amount", "1,00", exits: 64)
            #expect(example.errors.contains("USD 1.00"))
            #expect(try await agent.json("show", id)["state"] == "pending")
        }
    }
}
