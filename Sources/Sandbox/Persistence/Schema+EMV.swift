extension Schema {
    /// `emv` as it was ordered, null for 2.2.0 in the app channel; `isDecoupled` for the requests that are renewed.
    static let emv = """
        ALTER TABLE purchase ADD COLUMN emv TEXT;
        ALTER TABLE purchase ADD COLUMN isDecoupled INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX purchaseDecoupled ON purchase(expiresAt) WHERE isDecoupled = 1;
        CREATE TABLE challengeRequest (
            id INTEGER PRIMARY KEY, purchaseId INTEGER NOT NULL REFERENCES purchase, at INTEGER NOT NULL,
            oobContinue TEXT NOT NULL, oobAppFailed INTEGER NOT NULL, answer TEXT NOT NULL) STRICT;
        CREATE INDEX challengeRequestByPurchase ON challengeRequest(purchaseId);
        """
}
