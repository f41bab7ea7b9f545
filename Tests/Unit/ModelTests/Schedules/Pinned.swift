import IssuerProtocol

/// Schedules that were found at random, made small, and told a right agent from a wrong one.
enum Pinned {
    static let schedules = supersede + onceOnly + cancellations + times + deliveries + endings

    private static func asked(
        _ jti: Int, transaction: Int = 0, iat: Int64 = 0, exp: Int64 = 600
    ) -> Message {
        .request(PlannedRequest(jti: jti, transaction: transaction, iat: iat, exp: exp))
    }

    private static func takenBack(_ jti: Int) -> Message {
        .cancellation(PlannedCancellation(jti: 50, cancels: jti))
    }

    private static let supersede: [[Step]] = [
        // Of equal and of older iat, the first that came stays.
        [.list(0, [asked(1)]), .list(0, [asked(2)])],
        [.list(0, [asked(1)]), .list(0, [asked(2, iat: -1)])],
        // The newer one is answered: its bytes, and until its own exp.
        [
            .list(0, [asked(1)]), .list(0, [asked(2, iat: 1, exp: 5)]), .approve(0, jti: 2),
            .deliver(0, .approvals, .taken),
        ],
        [.list(0, [asked(1)]), .approve(0, jti: 1, meanwhile: [.list(0, [asked(2, iat: 1)])])],
    ]

    private static let onceOnly: [[Step]] = [
        [.list(0, [asked(1)]), .approve(0, jti: 1), .list(0, [asked(2)])],
        [.list(0, [asked(1)]), .deny(0, jti: 1), .restart, .list(0, [asked(2, iat: 9)])],
        [.list(0, [asked(1)]), .list(0, [asked(2, transaction: 1)])],
        [.list(0, [asked(1)]), .deny(0, jti: 1), .list(0, [asked(2, transaction: 3)])],
        // Once for each enrollment.
        [.list(0, [asked(1)]), .approve(0, jti: 1), .list(1, [asked(1)]), .approve(1, jti: 1)],
        [.list(0, [asked(1)]), .approve(0, jti: 1, crash: .afterCommit), .approve(0, jti: 1)],
        [.list(0, [asked(1)]), .approve(0, jti: 1, meanwhile: [.deny(0, jti: 1)])],
    ]

    private static let cancellations: [[Step]] = [
        [.list(0, [takenBack(1)]), .restart, .list(0, [asked(1)])],
        // It acts on the jti that it names alone.
        [.list(0, [asked(1)]), .list(0, [asked(2, iat: 1)]), .list(0, [takenBack(1)])],
        [.list(0, [asked(1)]), .list(0, [takenBack(2)]), .list(0, [asked(2, iat: 1)])],
        // What ended undecided is presented anew by a greater iat alone.
        [.list(0, [asked(1)]), .list(0, [takenBack(1)]), .list(0, [asked(2)]), .list(0, [asked(3, iat: 1)])],
        [.list(0, [asked(1)]), .approve(0, jti: 1, meanwhile: [.list(0, [takenBack(1)])])],
    ]

    private static let times: [[Step]] = [
        [.list(0, [asked(1, exp: -1)])],
        [.list(0, [asked(1, exp: 60)]), .pass(300), .list(0, [asked(2, iat: 300)])],
        [.list(0, [asked(1, iat: 61)]), .pass(1), .tick],
        [.list(0, [asked(1, iat: 61)]), .restart, .pass(1), .tick],
        [.list(0, [asked(1)]), .approve(0, jti: 1, meanwhile: [.pass(600)])],
        // The longest that a decision may take.
        [.list(0, [asked(1)]), .approve(0, jti: 1, meanwhile: [.pass(29)])],
        [.list(0, [asked(1)]), .approve(0, jti: 1, meanwhile: [.pass(30)])],
    ]

    private static let deliveries: [[Step]] = [
        // Approvals in the order of their signCounts, and a deny is not held up.
        [
            .list(0, [asked(1), .request(PlannedRequest(jti: 2, acs: 1))]), .approve(0, jti: 2), .approve(0, jti: 1),
            .list(0, [asked(3)]), .deliver(0, .denials, .taken), .deliver(0, .approvals, .again(hadEffect: true)),
        ],
        [.list(0, [asked(1)]), .approve(0, jti: 1), .deliver(0, .approvals, .cut(hadEffect: true)), .restart],
        [.list(0, [asked(1)]), .approve(0, jti: 1), .pass(600), .deliver(0, .approvals, .taken)],
        [.list(0, [asked(1)]), .deny(0, jti: 1), .deliver(0, .denials, .code(.expired)), .list(0, [asked(1)])],
        [.list(0, [asked(1)]), .deny(0, jti: 1), .deliver(0, .denials, .code(.invalidToken)), .list(0, [asked(2)])],
        // Behind the head of a queue stands a decision that is past its time before its turn comes.
        [
            .list(0, [asked(1), asked(2, transaction: 1), asked(3, transaction: 1, exp: 133)]), .pass(150),
        ],
    ]

    private static let endings: [[Step]] = [
        // While its key is at work: the signature does not leave, and nothing that comes later is shown.
        [
            .list(0, [asked(1), asked(2, transaction: 1)]), .approve(0, jti: 1, meanwhile: [.unenroll(0)]),
            .list(0, [asked(3)]), .restart, .list(0, [asked(3)]),
        ],
        // What was decided and not sent is never sent.
        [.list(0, [asked(1)]), .approve(0, jti: 1), .unenroll(0), .restart, .deliver(0, .approvals, .taken)],
        // What was held is not shown when its time has come, and the other card goes on.
        [.list(0, [asked(1, iat: 300)]), .unenroll(0), .pass(300), .tick, .list(1, [asked(1)]), .approve(1, jti: 1)],
    ]
}
