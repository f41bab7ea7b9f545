import Testing

@testable import Control

/// The files that evidence is written as, and what their README says is missing.
struct EvidenceFileTests {
    /// An approval of which everything is there.
    private func whole() -> EvidenceView {
        var request = RequestView(
            id: "0123", jti: "b1c6", acsTransId: "2f37539c", enrollmentId: "4567", issuer: "https://issuer.example",
            state: .approved, delivery: .delivered, receivedAt: "2023-10-17T05:56:38Z")
        request.merchantName = "| `Evil` |\n```sh\nrm\n```"
        request.transStatus = "Y"
        var view = EvidenceView(
            version: "1.2.3", request: request, erased: false,
            credential: CredentialView(id: "AA", rpId: "issuer.example", algorithm: "ES256", publicKey: "PEM"),
            journal: JournalExtractView(
                entries: [
                    #"{"entry":"presented","payload":"p"}"#, #"{"entry":"decided"}"#,
                    #"{"body":"b","entry":"answered"}"#,
                ],
                statement: "statement", signature: "AA", publicKey: "PEM"))
        view.message = "a.b.c"
        view.issuerKey = IssuerKeyView(jwk: "{}", publicKey: "PEM")
        view.nonce = "AAEC"
        view.transaction = "{}"
        view.text = "Amount"
        view.decision = "{}"
        view.assertion = AssertionView(clientDataJSON: "e30", authenticatorData: "AA", signature: "AA")
        return view
    }

    private func changed(_ change: (inout EvidenceView) -> Void) -> EvidenceView {
        var view = whole()
        change(&view)
        return view
    }

    private func undecided(_ state: RequestState) -> EvidenceView {
        changed { view in
            view.request.state = state
            view.request.delivery = .none
            view.decision = nil
            view.assertion = nil
        }
    }

    @Test func `the README comes first, bytes are decoded, and lines of the journal end`() throws {
        let files = try whole().files()
        #expect(files.first?.name == "README.md" && files.count == 16)
        #expect(Set(files.map(\.name)).count == files.count)
        #expect(files.first { $0.name == "nonce.bin" }?.bytes == [0, 1, 2])
        let lines = files.first { $0.name == "journal.jsonl" }.map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(lines == whole().journal.entries.map { $0 + "\n" }.joined())
    }

    @Test func `of an approval nothing is missing`() { #expect(whole().gaps.isEmpty) }

    @Test func `the text of what was decided is looked for in the decision's entry alone`() throws {
        let check = try #require(whole().checks.first { $0.title == "The text is the one that was written" })
        #expect(check.commands.contains(#""$(entries decided)""#) && !check.commands.contains("cat journal.jsonl"))
        #expect(
            changed { $0.journal.entries = [#"{"entry":"presented"}"#] }.checks.allSatisfy { $0.title != check.title })
    }

    @Test func `no text of the merchant's is in the README`() throws {
        let readme = String(decoding: try #require(whole().files().first).bytes, as: UTF8.self)
        #expect(!readme.contains("Evil") && readme.contains("| state | approved |"))
    }

    @Test(arguments: [
        (RequestState.pending, "nobody has decided yet"), (.expired, "nobody decided in time"),
        (.cancelled, "took the request back undecided"), (.approved, "did not keep it yet"),
    ])
    func `without a decision it says why there is none`(state: RequestState, why: String) {
        let gaps = undecided(state).gaps
        #expect(gaps.map(\.what) == ["a decision"])
        #expect(gaps.first?.why.contains(why) == true)
    }

    @Test func `each other thing that is missing is named with its reason`() {
        let cases: [(EvidenceView, String, String)] = [
            (changed { $0.issuerKey = nil }, "the issuer's key", "did not keep it yet"),
            (changed { $0.text = nil }, "the text", "did not keep it yet"),
            (changed { $0.assertion = nil }, "an assertion", "a deny is not signed"),
            (changed { $0.credential.publicKey = nil }, "the credential's public key", "has not used the key"),
            (changed { $0.journal = JournalExtractView(entries: []) }, "the journal's entries", "for their age"),
            (
                changed { $0.journal.fault = AuditFaultView(seq: 7, message: "The journal: entry 7 was changed.") },
                "the audit key's word for the entries", "entry 7 was changed"
            ),
            (changed { $0.request.delivery = .queued }, "the issuer's answer", "has not come yet"),
            (changed { $0.request.delivery = .failed }, "the issuer's answer", "did not take the decision"),
        ]
        for (view, what, why) in cases {
            #expect(view.gaps.map(\.what) == [what])
            #expect(view.gaps.first?.why.contains(why) == true)
        }
    }

    @Test func `of a refused one the refusal is told, of one that came too late that nobody saw it`() {
        let refused = changed { view in
            view.request.state = .refused
            view.request.refusal = "commitment"
            (view.transaction, view.nonce, view.text, view.assertion) = (nil, nil, nil, nil)
        }
        #expect(refused.gaps.map(\.what) == ["the transaction", "an assertion"])
        #expect(refused.gaps.first?.why.contains("`commitment`") == true)
        let late = changed { view in
            view.request.state = .expired
            view.request.delivery = .none
            (view.transaction, view.nonce, view.text, view.decision, view.assertion) = (nil, nil, nil, nil, nil)
        }
        #expect(late.gaps.map(\.what) == ["the transaction", "a decision"])
        #expect(late.gaps.first?.why.contains("too late") == true)
    }

    @Test func `after an erasure that alone is said of what it took`() {
        let erased = changed { view in
            view.erased = true
            (view.message, view.issuerKey, view.transaction, view.text, view.decision) = (nil, nil, nil, nil, nil)
            (view.assertion, view.credential.publicKey) = (nil, nil)
        }
        #expect(erased.gaps.count == 1 && erased.gaps.first?.why.contains("--erase") == true)
        #expect(erased.checks.map(\.title) == ["The journal's entries are as they were written"])
    }

    @Test func `nothing is checked that is not there`() {
        #expect(whole().checks.count == 6)
        #expect(changed { $0.issuerKey = nil }.checks.count == 5)
        #expect(
            changed { $0.journal.statement = nil }.checks.map(\.title).contains("The text is the one that was written")
                == false)
        #expect(changed { $0.credential.publicKey = nil }.fido2Check == nil)
        let unsent = changed { $0.journal.entries = [#"{"entry":"decided"}"#] }
        #expect(!unsent.checks.contains { $0.commands.contains("entries sent") })
    }

    @Test func `a relying party is one word of the shell, whatever it is called`() {
        #expect(ShellWord.quoted("a'; rm -r $HOME #") == #"'a'\''; rm -r $HOME #'"#)
        #expect(ShellWord.quoted("issuer.example") == "'issuer.example'")
        for plain in ["card", "a-b_c.9"] { #expect(ShellWord.of(plain) == plain) }
        for other in ["my card", "~", "*", "æ", "a;b"] { #expect(ShellWord.of(other) == "'\(other)'") }
        #expect(ShellWord.of("") == "''")
    }

    @Test func `bytes that are not base64url are an error, and no file`() {
        #expect(throws: ClientError.self) { try changed { $0.nonce = "?" }.files() }
        #expect(throws: ClientError.self) { try changed { $0.assertion?.signature = "A" }.files() }
    }
}
