import GRDB

/// The sandbox's tables; their columns are the properties of the records of the same names.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("schema 1") { db in try db.execute(sql: enrollment + purchases + messages) }
        return migrator
    }

    /// The tables of enrollment; all times are in seconds since 1970.
    ///
    /// A ceremony stores its answer, so that the same body gets it again. A subscription is stored as received, with
    /// its auth secret.
    private static let enrollment = """
        CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
        CREATE TABLE enrollmentCode (
            code TEXT PRIMARY KEY, userId BLOB NOT NULL, attestation TEXT NOT NULL, userVerification TEXT NOT NULL,
            algorithms TEXT NOT NULL, expiresAt INTEGER NOT NULL, optionsGiven INTEGER NOT NULL, usedAt INTEGER) STRICT;
        CREATE TABLE ceremony (
            id TEXT PRIMARY KEY, code TEXT NOT NULL REFERENCES enrollmentCode, challenge BLOB NOT NULL,
            expiresAt INTEGER NOT NULL, bodyDigest BLOB, answerStatus INTEGER, answerBody BLOB) STRICT;
        CREATE TABLE authenticator (
            seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, tokenDigest BLOB NOT NULL UNIQUE,
            credentialId BLOB NOT NULL UNIQUE, userId BLOB NOT NULL, publicKey BLOB NOT NULL,
            signCount INTEGER NOT NULL, aaguid BLOB NOT NULL, format TEXT NOT NULL, authnType TEXT NOT NULL,
            name TEXT NOT NULL, version TEXT NOT NULL, registration TEXT NOT NULL, challenge BLOB NOT NULL,
            origin TEXT NOT NULL, enrolledAt INTEGER NOT NULL, endedAt INTEGER, ending TEXT, subscription TEXT,
            pushSince INTEGER) STRICT;
        """

    /// The tables of purchases; the primary key of `completion` makes a purchase complete at most once.
    private static let purchases = """
        CREATE TABLE purchase (
            id INTEGER PRIMARY KEY, acsTransId TEXT NOT NULL,
            authenticatorId TEXT NOT NULL REFERENCES authenticator(id), transactionDigest BLOB NOT NULL,
            "transaction" TEXT NOT NULL, payment TEXT, traceparent TEXT, push TEXT NOT NULL,
            userVerification TEXT NOT NULL, emvOrder TEXT NOT NULL, emv TEXT NOT NULL, isDecoupled INTEGER NOT NULL,
            threeDSServerTransID TEXT NOT NULL, dsTransID TEXT NOT NULL, sdkTransID TEXT NOT NULL,
            createdAt INTEGER NOT NULL, expiresAt INTEGER NOT NULL, startedMilliseconds INTEGER NOT NULL) STRICT;
        CREATE INDEX purchaseByACSTransId ON purchase(acsTransId);
        CREATE INDEX purchaseDecoupled ON purchase(expiresAt) WHERE isDecoupled = 1;
        CREATE TABLE challengeRequest (
            id INTEGER PRIMARY KEY, purchaseId INTEGER NOT NULL REFERENCES purchase, at INTEGER NOT NULL,
            oobContinue TEXT NOT NULL, oobAppFailed INTEGER NOT NULL, answer TEXT NOT NULL) STRICT;
        CREATE INDEX challengeRequestByPurchase ON challengeRequest(purchaseId);
        CREATE TABLE completion (
            purchaseId INTEGER PRIMARY KEY REFERENCES purchase,
            status TEXT NOT NULL CHECK (status IN ('authenticated', 'notAuthenticated', 'expired', 'cancelled')),
            reason TEXT, jti TEXT, at INTEGER NOT NULL, decidedMilliseconds INTEGER) STRICT;
        """

    /// The tables of messages; the queue of pushes is also their record, and its `jti` is the request's.
    ///
    /// A decision counts its repetitions: with the same bytes, and with others. A problem's status and code are stored
    /// as they were answered.
    private static let messages = """
        CREATE TABLE authnRequest (
            jti TEXT PRIMARY KEY, purchaseId INTEGER NOT NULL REFERENCES purchase, authenticatorId TEXT NOT NULL,
            origin TEXT NOT NULL, nonce BLOB NOT NULL, challenge BLOB NOT NULL, jws TEXT NOT NULL,
            iat INTEGER NOT NULL, exp INTEGER NOT NULL, cancelledAt INTEGER) STRICT;
        CREATE INDEX authnRequestByPurchase ON authnRequest(purchaseId);
        CREATE TABLE listing (
            seq INTEGER PRIMARY KEY AUTOINCREMENT, authenticatorId TEXT NOT NULL, jti TEXT NOT NULL,
            jws TEXT NOT NULL, exp INTEGER NOT NULL) STRICT;
        CREATE INDEX listingByAuthenticator ON listing(authenticatorId, seq);
        CREATE INDEX listingByJTI ON listing(jti);
        CREATE TABLE push (
            id INTEGER PRIMARY KEY AUTOINCREMENT, jti TEXT NOT NULL REFERENCES authnRequest,
            authenticatorId TEXT NOT NULL REFERENCES authenticator(id), message TEXT NOT NULL, jws TEXT,
            exp INTEGER NOT NULL, dueAt INTEGER NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL,
            at INTEGER, status INTEGER, problem TEXT) STRICT;
        CREATE INDEX pushByJTI ON push(jti);
        CREATE INDEX pushByState ON push(state, dueAt, id);
        CREATE TABLE decision (
            jti TEXT PRIMARY KEY REFERENCES authnRequest, digest BLOB NOT NULL, body TEXT NOT NULL,
            transStatus TEXT NOT NULL CHECK (transStatus IN ('Y', 'N')), at INTEGER NOT NULL,
            storedSignCount INTEGER NOT NULL, verdict TEXT, traceparent TEXT, repeats INTEGER NOT NULL,
            conflicts INTEGER NOT NULL) STRICT;
        CREATE TABLE refusedAssertion (
            id INTEGER PRIMARY KEY, jti TEXT NOT NULL REFERENCES authnRequest, at INTEGER NOT NULL,
            verdict TEXT NOT NULL) STRICT;
        CREATE INDEX refusedAssertionByJTI ON refusedAssertion(jti);
        CREATE TABLE refusedDecision (
            id INTEGER PRIMARY KEY, jti TEXT NOT NULL REFERENCES authnRequest, at INTEGER NOT NULL,
            status INTEGER NOT NULL, code TEXT, detail TEXT NOT NULL) STRICT;
        CREATE INDEX refusedDecisionByJTI ON refusedDecision(jti);
        """
}
