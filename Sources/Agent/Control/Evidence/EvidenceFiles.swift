import TextAndTime

/// A file in the directory that evidence is written to.
package struct EvidenceFile: Sendable, Equatable {
    package let name: String
    package let bytes: [UInt8]
    /// The description of the file in the README.
    let meaning: String

    fileprivate init?(_ name: String, _ bytes: [UInt8]?, _ meaning: String) {
        guard let bytes else { return nil }
        self.name = name
        self.bytes = bytes
        self.meaning = meaning
    }

    fileprivate init?(_ name: String, _ text: String?, _ meaning: String) {
        self.init(name, text.map { Array($0.utf8) }, meaning)
    }
}

extension EvidenceView {
    /// Returns the files of the evidence, the README first.
    ///
    /// Bytes from the agent that are not base64url are an error.
    package func files() throws(ClientError) -> [EvidenceFile] {
        let files = [
            EvidenceFile("request.jws", message, "the issuer's message as it came (a compact JWS, RFC 7515)"),
            EvidenceFile("issuer.pem", issuerKey?.publicKey, "the issuer's key that its signature holds under"),
            EvidenceFile("issuer.jwk.json", issuerKey?.jwk, "the same key as a JSON Web Key (RFC 7638's form)"),
            EvidenceFile("nonce.bin", try bytes(nonce), "the message's nonce"),
            EvidenceFile("transaction.json", transaction, "the transaction in its canonical form (RFC 8785)"),
            EvidenceFile("text.txt", text, "the text that was written for whoever decides"),
            EvidenceFile("decision.json", decision, "what was sent to the issuer, or is to be sent"),
        ]
        return
            ([EvidenceFile("README.md", try readme(about: files + signed() + journaled()), "")] + files
            + (try signed()) + (try journaled())).compactMap(\.self)
    }

    private func signed() throws(ClientError) -> [EvidenceFile?] {
        [
            EvidenceFile("clientDataJSON", try bytes(assertion?.clientDataJSON), "the assertion's client data"),
            EvidenceFile(
                "authenticatorData", try bytes(assertion?.authenticatorData), "the assertion's authenticator data"),
            EvidenceFile("signature", try bytes(assertion?.signature), "the assertion's signature"),
            EvidenceFile("credential.pem", credential.publicKey, "the public key of the credential"),
        ]
    }

    private func journaled() throws(ClientError) -> [EvidenceFile?] {
        let entries = journal.entries.isEmpty ? nil : journal.entries.map { $0 + "\n" }.joined()
        return [
            EvidenceFile("journal.jsonl", entries, "the agent's journal about this request, a line an entry"),
            EvidenceFile("journal.txt", journal.statement, "the digests of the journal's head and of each entry"),
            EvidenceFile("journal.sig", try bytes(journal.signature), "the audit key's signature over them"),
            EvidenceFile("audit.pem", journal.publicKey, "the audit key"),
        ]
    }

    private func bytes(_ text: String?) throws(ClientError) -> [UInt8]? {
        guard let text else { return nil }
        guard let bytes = Base64URL.decode(text) else {
            throw .unclear("The evidence could not be read: is the agent of another version?")
        }
        return bytes
    }
}
