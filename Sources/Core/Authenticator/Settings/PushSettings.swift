package import IssuerProtocol

/// The settings of push.
///
/// An agent without them receives no pushes.
package struct PushSettings: Sendable {
    /// The seconds from one short poll to the next while push works; also the protocol's longest wait.
    package static let usualPollInterval: Int64 = 60

    private let address: PushAddress
    /// Whether an upstream push service verifies the VAPID signature.
    ///
    /// If not, the agent does.
    package let isVAPIDUpstream: Bool
    /// Seconds.
    package let pollInterval: Int64
    package let rates: PushRates

    /// - Parameter url: the receiver's URL as issuers see it, such as `https://push.bank.example`.
    /// - Throws: if no endpoint can begin with it.
    package init(
        url: String, isVAPIDUpstream: Bool = false, pollInterval: Int64 = Self.usualPollInterval,
        rates: PushRates = PushRates()
    ) throws(ProtocolError) {
        let address = PushAddress()
        try address.set(url)
        self.init(address: address, isVAPIDUpstream: isVAPIDUpstream, pollInterval: pollInterval, rates: rates)
    }

    /// - Parameter address: the address, which may be set later. No issuer can push before that.
    package init(
        address: PushAddress, isVAPIDUpstream: Bool = false, pollInterval: Int64 = Self.usualPollInterval,
        rates: PushRates = PushRates()
    ) {
        self.address = address
        self.isVAPIDUpstream = isVAPIDUpstream
        self.pollInterval = pollInterval
        self.rates = rates
    }

    /// Whether an address to push to is set.
    var hasAddress: Bool { address.base != nil }

    func endpoint(_ token: PushToken) throws(ProtocolError) -> PushEndpoint {
        guard let base = address.base else { throw ProtocolError(what: "is not known yet", where: "push endpoint") }
        return try PushEndpoint(base + token.text)
    }

    /// Returns whether an endpoint was made with this address.
    func begins(_ endpoint: PushEndpoint) -> Bool {
        guard let base = address.base else { return false }
        return endpoint.text.utf8.starts(with: base.utf8)
            && endpoint.text.utf8.count == base.utf8.count + PushToken.characters
    }
}

/// The most pushes that are accepted a minute.
///
/// The same number may come at once.
package struct PushRates: Sendable {
    package var ofEndpoint: Int64 = 600
    package var inAll: Int64 = 60_000

    package init() {}
}
