import GRDB

/// The sandbox's tables; migrations are named and only ever added to.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1 enrollment") { db in try db.execute(sql: enrollment) }
        migrator.registerMigration("v1 purchases") { db in try db.execute(sql: purchases) }
        migrator.registerMigration("v2 payment") { db in
            // The payment extension as it is sent; null where the assertion is to have the plain form.
            try db.execute(sql: "ALTER TABLE purchase ADD COLUMN payment TEXT")
        }
        migrator.registerMigration("v2 algorithms") { db in try db.execute(sql: algorithms) }
        migrator.registerMigration("v2 deliveries") { db in try db.execute(sql: deliveries) }
        migrator.registerMigration("v3 push") { db in try db.execute(sql: push) }
        migrator.registerMigration("v4 refused decisions") { db in try db.execute(sql: refusedDecisions) }
        migrator.registerMigration("v5 EMV") { db in try db.execute(sql: emv) }
        migrator.registerMigration("v6 milliseconds") { db in
            // Since 1970; null for what is older, and for what no decision completed.
            try db.execute(sql: "ALTER TABLE purchase ADD COLUMN startedMilliseconds INTEGER")
            try db.execute(sql: "ALTER TABLE completion ADD COLUMN decidedMilliseconds INTEGER")
        }
        return migrator
    }

    /// A ceremony keeps the answer it gave, so that the same body gets it again; all times are seconds since 1970.
    private static let enrollment = """
        CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
        CREATE TABLE enrollmentCode (
            code TEXT PRIMARY KEY, userId BLOB NOT NULL, attestation TEXT NOT NULL, userVerification TEXT NOT NULL,
            expiresAt INTEGER NOT NULL, optionsGiven INTEGER NOT NULL DEFAULT 0, usedAt INTEGER) STRICT;
        CREATE TABLE ceremony (
            id TEXT PRIMARY KEY, code TEXT NOT NULL REFERENCES enrollmentCode, challenge BLOB NOT NULL,
            expiresAt INTEGER NOT NULL, bodyDigest BLOB, answerStatus INTEGER, answer BLOB) STRICT;
        CREATE TABLE authenticator (
            seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, tokenDigest BLOB NOT NULL UNIQUE,
            credentialId BLOB NOT NULL UNIQUE, userId BLOB NOT NULL, publicKey BLOB NOT NULL,
            signCount INTEGER NOT NULL, aaguid BLOB NOT NULL, format TEXT NOT NULL, authnType TEXT NOT NULL,
            name TEXT NOT NULL, version TEXT NOT NULL, registration TEXT NOT NULL, challenge BLOB NOT NULL,
            origin TEXT NOT NULL, enrolledAt INTEGER NOT NULL, endedAt INTEGER, ending TEXT) STRICT;
        """

    /// COSE numbers as a JSON array; codes from before this column were given out for ES256 alone.
    private static let algorithms = """
        ALTER TABLE enrollmentCode ADD COLUMN algorithms TEXT NOT NULL DEFAULT '[-7]';
        """

    /// How often a decision came again: the same bytes, and others.
    private static let deliveries = """
        ALTER TABLE purchase ADD COLUMN traceparent TEXT;
        ALTER TABLE decision ADD COLUMN traceparent TEXT;
        ALTER TABLE decision ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE decision ADD COLUMN conflicts INTEGER NOT NULL DEFAULT 0;
        """

    /// A subscription is kept as it came, with its auth secret; `push` is queue and record in one, `jti` the request's.
    private static let push = """
        ALTER TABLE authenticator ADD COLUMN pushSubscription TEXT;
        ALTER TABLE authenticator ADD COLUMN pushSince INTEGER;
        ALTER TABLE purchase ADD COLUMN push TEXT NOT NULL DEFAULT 'both';
        CREATE TABLE push (
            id INTEGER PRIMARY KEY AUTOINCREMENT, jti TEXT NOT NULL REFERENCES authnRequest,
            authenticatorId TEXT NOT NULL REFERENCES authenticator(id), message TEXT NOT NULL, jws TEXT,
            exp INTEGER NOT NULL, dueAt INTEGER NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
            at INTEGER, status INTEGER, problem TEXT) STRICT;
        CREATE INDEX pushByJTI ON push(jti);
        CREATE INDEX pushByState ON push(state, dueAt, id);
        """

    /// `completion` has one row for a purchase at most: its key is what makes completing happen once.
    private static let purchases = """
        CREATE TABLE purchase (
            id INTEGER PRIMARY KEY AUTOINCREMENT, acsTransId TEXT NOT NULL,
            authenticatorId TEXT NOT NULL REFERENCES authenticator(id), transactionDigest BLOB NOT NULL,
            members TEXT NOT NULL, userVerification TEXT NOT NULL, threeDSServerTransID TEXT NOT NULL,
            dsTransID TEXT NOT NULL, sdkTransID TEXT NOT NULL, createdAt INTEGER NOT NULL,
            expiresAt INTEGER NOT NULL) STRICT;
        CREATE INDEX purchaseByACSTransId ON purchase(acsTransId);
        CREATE TABLE authnRequest (
            jti TEXT PRIMARY KEY, purchaseId INTEGER NOT NULL REFERENCES purchase, authenticatorId TEXT NOT NULL,
            origin TEXT NOT NULL,
            nonce BLOB NOT NULL, challenge BLOB NOT NULL, jws TEXT NOT NULL, iat INTEGER NOT NULL,
            exp INTEGER NOT NULL, cancelledAt INTEGER) STRICT;
        CREATE INDEX authnRequestByPurchase ON authnRequest(purchaseId);
        CREATE TABLE listing (
            seq INTEGER PRIMARY KEY AUTOINCREMENT, authenticatorId TEXT NOT NULL, jti TEXT NOT NULL,
            jws TEXT NOT NULL, exp INTEGER NOT NULL) STRICT;
        CREATE INDEX listingByAuthenticator ON listing(authenticatorId, seq);
        CREATE INDEX listingByJTI ON listing(jti);
        CREATE TABLE decision (
            jti TEXT PRIMARY KEY REFERENCES authnRequest, digest BLOB NOT NULL, body TEXT NOT NULL,
            transStatus TEXT NOT NULL CHECK (transStatus IN ('Y', 'N')), at INTEGER NOT NULL,
            storedSignCount INTEGER NOT NULL, verdict TEXT) STRICT;
        CREATE TABLE refusedAssertion (
            id INTEGER PRIMARY KEY, jti TEXT NOT NULL REFERENCES authnRequest, at INTEGER NOT NULL,
            verdict TEXT NOT NULL) STRICT;
        CREATE INDEX refusedAssertionByJTI ON refusedAssertion(jti);
        CREATE TABLE completion (
            purchaseId INTEGER PRIMARY KEY REFERENCES purchase,
            status TEXT NOT NULL CHECK (status IN ('authenticated', 'notAuthenticated', 'expired', 'cancelled')),
            transStatus TEXT NOT NULL CHECK ((transStatus = 'Y') = (status = 'authenticated')),
            reason TEXT, jti TEXT, at INTEGER NOT NULL) STRICT;
        """
}
