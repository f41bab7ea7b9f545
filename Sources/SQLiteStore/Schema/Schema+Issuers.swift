extension Schema {
    /// What issuers said of decisions: why one could not be delivered, and which signCount was refused.
    ///
    /// - `refused_sign_count`: null unless an assertion with this signCount was refused, or this is a copy, and the
    ///   issuer has not said since which signCount it accepted.
    static let issuersWords = """
        ALTER TABLE request ADD COLUMN delivery_error TEXT;
        ALTER TABLE outbox ADD COLUMN last_error TEXT;
        ALTER TABLE enrollment ADD COLUMN refused_sign_count INTEGER;
        """
}
