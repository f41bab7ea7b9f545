extension EvidenceView {
    /// Returns the page that describes the files, the missing parts, and the checks without this software.
    ///
    /// It contains no text from the issuer or the merchant.
    func readme(about files: [EvidenceFile?]) -> String {
        let present = files.compactMap(\.self)
        let parts = [
            "# Evidence about request \(request.id)", Self.table(facts), "## What is here",
            Self.table(present.map { ("`\($0.name)`", $0.meaning) }),
            gaps.isEmpty ? nil : "## What is missing", gaps.isEmpty ? nil : Self.table(gaps.map { ($0.what, $0.why) }),
            "## Checking it", Self.introduction, EvidenceCheck.preparation.text,
            checks.map { "### \($0.title)\n\n\($0.text)" }.joined(separator: "\n\n"),
            fido2Check.map { "### The same with libfido2\n\n\($0.text)" }, "## What these checks cannot show",
            Self.limits,
        ]
        return parts.compactMap(\.self).joined(separator: "\n\n") + "\n"
    }

    private var facts: [(String, String)] {
        let outcome = [request.state.rawValue, request.reason, request.refusal].compactMap(\.self)
        let delivery = [request.delivery.rawValue, request.transStatus].compactMap(\.self)
        let facts: [(String, String?)] = [
            ("request", request.id), ("the issuer's id of it (`jti`)", request.jti),
            ("the ACS's id of the transaction (`acsTransId`)", request.acsTransId), ("issuer", request.issuer),
            ("enrollment", request.enrollmentId), ("authenticator", authenticatorId), ("credential", credential.id),
            ("received", request.receivedAt), ("expires", request.expiresAt), ("decided", request.decidedAt),
            ("state", outcome.joined(separator: ", ")), ("delivery", delivery.joined(separator: ", transStatus ")),
            ("written by", "oob-agent \(version)"),
        ]
        return facts.compactMap { name, value in value.map { (name, $0) } }.filter { !$0.1.isEmpty }
    }

    private static func table(_ rows: [(String, String)]) -> String {
        (["| | |", "|---|---|"] + rows.map { "| \($0.0) | \($0.1) |" }).joined(separator: "\n")
    }

    private static let introduction = """
        The blocks below need `sh`, `openssl` (3.0 or newer) and the GNU coreutils, and nothing of the software that \
        made these files. Run them in this directory, one after the other in one `sh -e`, which ends at the first that \
        does not hold.
        """

    private static let limits = """
        - That `issuer.pem` is the issuer's, `credential.pem` the one that the issuer enrolled, and `audit.pem` the \
        agent's. Hold them against copies that came another way: the issuer's records of its keys and of the \
        registration, and what `oobctl audit key` printed earlier.
        - That a person read `text.txt`. `shown` in the entry `decided` says what the client told the agent.
        - That the journal says all. What it shows, and what not, is in the agent's docs/reference/audit.md. The digest \
        of the journal's head, in `journal.txt`, is where `oobctl audit export` must have it.
        """
}
