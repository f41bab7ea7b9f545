package import IssuerProtocol

/// The address of an issuer: its URL, and the roots that replace the system's roots for it.
package struct IssuerTarget: Hashable, Sendable {
    package let issuer: IssuerURL
    /// PEM certificates, as they were given.
    package let rootsPEM: String?

    package init(issuer: IssuerURL, rootsPEM: String?) {
        self.issuer = issuer
        self.rootsPEM = rootsPEM
    }
}
