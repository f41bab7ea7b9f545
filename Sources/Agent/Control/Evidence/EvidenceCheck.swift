/// A step of checking evidence by hand: shell commands that print each result and fail if a check fails.
package struct EvidenceCheck: Sendable, Equatable {
    package let title: String
    package let explanation: String
    /// The commands, to run with `sh -e` in the directory of the evidence's files.
    package let commands: String
    /// The language of the code block in the README.
    ///
    /// `sh` marks a block that needs only openssl and coreutils.
    var language = "sh"

    var text: String { "\(explanation)\n\n```\(language)\n\(commands)\n```" }

    /// The shell functions and variables that several blocks use; `$challenge` comes from the commitment check.
    package static let preparation = EvidenceCheck(
        title: "Preparation", explanation: "First, some words for what follows:",
        commands: #"""
            export LC_ALL=C
            box=$(mktemp -d)
            trap 'rm -r "$box"' EXIT
            digest() { openssl dgst -sha256 -binary "$@"; }
            encoded() { basenc --base64url -w 0 | tr -d =; }
            decoded() {
                code=$(cat)
                while [ $((${#code} % 4)) -ne 0 ]; do code=$code=; done
                printf %s "$code" | basenc --base64url -d
            }
            says() { if [ "$2" = yes ]; then echo "holds: $1"; else echo "DOES NOT HOLD: $1"; false; fi; }
            same() { if [ "$2" = "$3" ]; then says "$1" yes; else says "$1" no; fi; }
            within() { case $3 in *"$2"*) says "$1" yes ;; *) says "$1" no ;; esac; }
            entries() {
                while IFS= read -r line; do
                    case $line in *'"entry":"'"$1"'"'*) printf '%s\n' "$line" ;; esac
                done <journal.jsonl
            }
            """#)
}

extension EvidenceView {
    /// The checks that are possible with the available parts.
    package var checks: [EvidenceCheck] {
        [issuerCheck, commitmentCheck, assertionCheck, journalCheck, textCheck, decisionCheck].compactMap(\.self)
    }

    private var issuerCheck: EvidenceCheck? {
        guard message != nil, issuerKey != nil else { return nil }
        return EvidenceCheck(
            title: "The issuer sent the message",
            explanation: "The signature of a JWS is two numbers in 64 bytes; openssl wants them in DER.",
            commands: #"""
                cut -d . -f 1,2 request.jws | tr -d '\n' >"$box/message"
                numbers=$(cut -d . -f 3 request.jws | tr -d '\n' | decoded | od -An -v -tx1 | tr -d ' \n')
                printf 'asn1=SEQUENCE:two\n[two]\nr=INTEGER:0x%s\ns=INTEGER:0x%s\n' \
                    "$(printf %s "$numbers" | cut -c 1-64)" "$(printf %s "$numbers" | cut -c 65-)" >"$box/two"
                openssl asn1parse -genconf "$box/two" -noout -out "$box/message.sig"
                openssl dgst -sha256 -verify issuer.pem -signature "$box/message.sig" "$box/message"
                openssl pkey -pubin -in issuer.pem -outform DER | tail -c 64 >"$box/point"
                same 'issuer.jwk.json is the key of issuer.pem' "$(cat issuer.jwk.json)" "$(
                    printf '{"crv":"P-256","kty":"EC","x":"%s","y":"%s"}' \
                        "$(head -c 32 "$box/point" | encoded)" "$(tail -c 32 "$box/point" | encoded)"
                )"
                """#)
    }

    private var commitmentCheck: EvidenceCheck? {
        guard message != nil, nonce != nil, transaction != nil else { return nil }
        return EvidenceCheck(
            title: "The message asks for this transaction",
            explanation: """
                The challenge of the message commits to the transaction: it is SHA-256 over a label, the nonce and \
                `transaction.json`. Any change of the transaction changes it.
                """,
            commands: #"""
                challenge=$({ printf 'oob-authn-v1\0'; cat nonce.bin transaction.json; } | digest | encoded)
                within 'the challenge that the issuer signed is over transaction.json' "\"challenge\":\"$challenge\"" \
                    "$(cut -d . -f 2 request.jws | tr -d '\n' | decoded | tr -d ' \t\r\n')"
                """#)
    }

    private var assertionCheck: EvidenceCheck? {
        guard assertion != nil, credential.publicKey != nil, transaction != nil,
            let verification = Self.verifications[credential.algorithm]
        else { return nil }
        let relyingParty = ShellWord.quoted(credential.rpId)
        return EvidenceCheck(
            title: "The credential signed this transaction",
            explanation: """
                WebAuthn (§6.3.3): the signature is over `authenticatorData` and the SHA-256 of `clientDataJSON`, which \
                holds the same challenge. The last line prints what the authenticator says of its user.
                """,
            commands: #"""
                within 'the challenge that was signed is over transaction.json' "\"challenge\":\"$challenge\"" \
                    "$(cat clientDataJSON)"
                same 'it was signed for this relying party' "$(printf %s \#(relyingParty) | digest | encoded)" \
                    "$(head -c 32 authenticatorData | encoded)"
                { cat authenticatorData; digest clientDataJSON; } >"$box/signed"
                \#(verification)
                flags=$(od -An -v -tu1 -j 32 -N 1 authenticatorData)
                echo "user present: $((flags & 1)); user verified: $((flags / 4 & 1)); signCount:" \
                    "$(od -An -v -tu4 --endian=big -j 33 -N 4 authenticatorData)"
                """#)
    }

    private static let verifications = [
        "ES256": #"openssl dgst -sha256 -verify credential.pem -signature signature "$box/signed""#,
        "ES384": #"openssl dgst -sha384 -verify credential.pem -signature signature "$box/signed""#,
        "EdDSA":
            #"openssl pkeyutl -verify -pubin -inkey credential.pem -rawin -in "$box/signed" -sigfile signature"#,
    ]

    private var journalCheck: EvidenceCheck? {
        guard journal.statement != nil else { return nil }
        let message = self.message != nil && has("payload") ? "\n" + Self.messageWasReceived : ""
        return EvidenceCheck(
            title: "The journal's entries are as they were written",
            explanation:
                "The audit key has signed the SHA-256 of each entry, a line of `journal.jsonl` without its end.",
            commands: #"""
                openssl dgst -sha256 -verify audit.pem -signature journal.sig journal.txt
                same 'the entries are those that were signed' "$(tail -n +3 journal.txt | cut -d ' ' -f 2)" "$(
                    while IFS= read -r line; do
                        printf %s "$line" | sha256sum | cut -c 1-64
                    done <journal.jsonl
                )"\#(message)
                """#)
    }

    private static let messageWasReceived = #"""
        within 'the journal has the digest of what the message says' "\"payload\":\"$(
            cut -d . -f 2 request.jws | tr -d '\n' | decoded | digest | encoded
        )\"" "$(cat journal.jsonl)"
        """#

    /// The check of the text against its digest in the journal.
    ///
    /// If the request was decided, only its entry `decided` is searched, and without that entry there is no check.
    /// Otherwise all entries are searched.
    private var textCheck: EvidenceCheck? {
        let isDecided = request.state == .approved || request.state == .denied
        guard text != nil, journal.statement != nil, !isDecided || has("entry", "decided") else { return nil }
        let place = isDecided ? "\"$(entries decided)\"" : "\"$(cat journal.jsonl)\""
        return EvidenceCheck(
            title: "The text is the one that was written",
            explanation:
                "The journal has its digest. Amount and payee in it are those of `transaction.json`: compare them.",
            commands: #"""
                within 'the journal has the digest of text.txt' "\"text\":\"$(digest text.txt | encoded)\"" \#(place)
                """#)
    }

    private var decisionCheck: EvidenceCheck? {
        guard decision != nil else { return nil }
        let sent = journal.statement != nil && has("body")
        let commands = (assertion == nil ? [] : [Self.assertionInDecision]) + (sent ? [Self.decisionWasSent] : [])
        guard !commands.isEmpty else { return nil }
        return EvidenceCheck(
            title: "The decision is the one that was sent",
            explanation: sent
                ? "The journal has the digest of what was sent to the issuer."
                : "It holds the assertion. Nothing was sent yet, so the journal has no digest of it.",
            commands: commands.joined(separator: "\n"))
    }

    private static let assertionInDecision = #"""
        for part in clientDataJSON authenticatorData signature; do
            within "decision.json holds $part" "\"$part\":\"$(encoded <"$part")\"" "$(cat decision.json)"
        done
        """#

    private static let decisionWasSent = #"""
        within 'the journal has the digest of decision.json' "\"body\":\"$(digest decision.json | encoded)\"" "$(cat journal.jsonl)"
        """#

    /// Returns whether a journal entry has a member of this name, and this value if one is given.
    private func has(_ member: String, _ value: String = "") -> Bool {
        let wanted = "\"\(member)\":\"\(value)" + (value.isEmpty ? "" : "\"")
        return journal.entries.contains { $0.contains(wanted) }
    }

    /// The check of the assertion with libfido2, a library that this software does not use.
    var fido2Check: EvidenceCheck? {
        let names = ["ES256": "es256", "ES384": "es384", "EdDSA": "eddsa"]
        guard assertion != nil, credential.publicKey != nil, let name = names[credential.algorithm] else { return nil }
        return EvidenceCheck(
            title: "The same with libfido2",
            explanation: "`fido2-assert` is in Debian's fido2-tools. It says nothing if the assertion holds.",
            commands: #"""
                {
                    openssl dgst -sha256 -binary clientDataJSON | base64 -w 0; echo
                    echo \#(ShellWord.quoted(credential.rpId))
                    { printf '\130\045'; cat authenticatorData; } | base64 -w 0; echo
                    base64 -w 0 signature; echo
                } | fido2-assert -V -p credential.pem \#(name)
                """#, language: "shell")
    }
}
