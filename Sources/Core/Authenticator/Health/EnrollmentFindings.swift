import IssuerProtocol
import Keys
import Records
import TextAndTime

extension Enrollment {
    /// The weaknesses of this enrollment, and the faults that were found with it.
    var findings: [Finding] {
        // No value of a damaged row can be trusted.
        if isDamaged { return [Finding(.enrollmentDamaged, damage, about: id)] }
        return [signCountRaise.map(finding), typeFinding, triesFinding, pinFinding, keyFinding, issuerFinding]
            .compactMap(\.self)
    }

    private var typeFinding: Finding? {
        guard authnType == .test else { return nil }
        return Finding(.testAuthenticator, "enrollment \(id) is a test authenticator", about: id)
    }

    private var triesFinding: Finding? {
        guard keyTries == .unknown else { return nil }
        return Finding(
            .enrollmentDamaged,
            "the count of wrong PINs of the key of enrollment \(id) in the database is not as the agent wrote it: at the "
                + "next PIN it is blocked for a day; find out who writes to the database", about: id)
    }

    private var pinFinding: Finding? {
        guard isPINGuessable else { return nil }
        return Finding(.pinGuessable, "the PIN of enrollment \(id) is easy to guess", about: id)
    }

    private var issuerFinding: Finding? {
        guard target.issuer.text.hasPrefix("http:") else { return nil }
        return Finding(
            .plainHTTP,
            "enrollment \(id) is at \(target.issuer), without TLS: whoever listens on that port can act as the issuer",
            about: id)
    }

    private var keyFinding: Finding? {
        guard let key = key.external else {
            return Finding(
                .keyExportable,
                "the key of enrollment \(id) is in the database, sealed: whoever has a copy of the database and the agent's "
                    + "secret, and the PIN if it has one, can sign (PSD2 RTS Article 7)", about: id)
        }
        guard key.facts.kind != .file else {
            return Finding(
                .keyExportable,
                "the key of enrollment \(id) is a file: whoever has the file and what opens it can sign", about: id)
        }
        switch key.facts.isExportable {
        case true?:
            return Finding(
                .tokenKeyExportable, "the key of enrollment \(id), \(key.uri.text), may be copied from where it is",
                about: id)
        case false?: return nil
        case nil:
            return Finding(
                .tokenKeyExportable,
                "it cannot be told whether the key of enrollment \(id), \(key.uri.text), may be copied", about: id,
                isCertain: false)
        }
    }

    private func finding(of raise: SignCountRaise) -> Finding {
        let what =
            "at \(UTCTime.text(raise.at)) the issuer of enrollment \(id) had accepted signCount \(raise.to), above the "
            + "\(raise.from) known here: "
        guard raise.isElsewhere else {
            return Finding(
                .signCountRaised, what + "this state was an old copy, or someone else has the key", about: id)
        }
        return Finding(
            .signedElsewhere,
            what + "someone else signs with this key, such as a second agent on a copy of this state: stop that one; "
                + "if there is none, unenroll and enroll anew", about: id)
    }
}
