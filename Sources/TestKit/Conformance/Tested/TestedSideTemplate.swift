/// The files that `oob-conform init` writes: every member, with comments, ready to be filled in.
package enum TestedSideTemplate: String, Sendable, CaseIterable {
    case issuer, approver

    package var text: String {
        switch self {
        case .issuer: Self.issuerText
        case .approver: Self.approverText
        }
    }

    private static let issuerText = """
        # What `oob-conform issuer --config FILE` needs to know of the issuer that it tests.
        #
        # Each command is run by /bin/sh -c, reads one JSON object on standard input, has the issuer's URL in $ISSUER, and has
        # 60 seconds. In place of a command there can be an HTTP call; the JSON object is its body then:
        #   code: {post: "http://localhost:8090/test/codes", headers: {Authorization: "Bearer test"}}
        # Leave out what your issuer has not: the cases that need it are counted as not shown.

        # The issuer's URL, as an authenticator is given it.
        issuer: http://localhost:8090

        # Prints a new enrollment code: the code alone, JSON with `code`, or an oob-enroll: link. Reads {}.
        code: curl -sf $ISSUER/test/codes -d @-

        # Makes a purchase. Reads {"authenticatorId", "transaction": {…}, "lifetime": 600}, and sometimes "userVerification":
        # "required" or "payment": {…}. The request has to have exactly these members of the transaction, and to expire
        # after `lifetime` seconds. It may run until the payer has decided, and may then print {"transStatus": "Y"}.
        purchase: curl -sf $ISSUER/test/purchases -d @-

        # Takes a purchase back. Reads {"authenticatorId", "jti", "acsTransId", "purchase": what `purchase` printed}.
        # cancel: curl -sf $ISSUER/test/cancellations -d @-

        # Prints the outcome of a purchase, Y or N, or JSON with `transStatus`. Reads the same.
        # outcome: curl -sf $ISSUER/test/outcomes -d @-

        # Moves the issuer's clock ahead and prints its time, in seconds since 1970. Reads {"seconds": 601}. It is called
        # once at the start of a run, and the cases that move it are played alone.
        # clock: curl -sf $ISSUER/test/clock -d @-

        """

    private static let approverText = """
        # What `oob-conform approver --config FILE` needs to know of the approver that it tests.
        #
        # Each command is run by /bin/sh -c, reads one JSON object on standard input, and has 60 seconds. In place of a command
        # there can be an HTTP call; the JSON object is its body then:
        #   approve: {post: "http://localhost:9000/approve"}
        # Leave out what your approver has not: the cases that need it are counted as not shown.

        # Enrolls at an issuer, and has exit status 0 once it is enrolled. Reads {"issuer", "code", "link"}; they are also in
        # $ISSUER, $CODE and $LINK.
        enroll: my-approver enroll "$LINK"

        # Approves a request that was presented; the exit status is 0 if it did. Reads {"acsTransId", "jti"}.
        approve: my-approver approve -

        # Denies it, as the payer. Reads the same.
        deny: my-approver deny -

        # Prints the acsTransId of each request that is presented and undecided, one on a line or as a JSON list. Reads {}.
        # pending: my-approver pending

        # Asks the issuer now, so that nobody waits for the next poll. Reads {}.
        # fetch: my-approver fetch

        # Ends the approver and starts it again with what it has on disk. Reads {}.
        # restart: my-approver restart

        """
}
