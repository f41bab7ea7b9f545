package import IssuerProtocol

/// How pushes reach this agent; without it there are none.
package struct PushSettings: Sendable {
    /// The seconds from one short poll to the next while push works; also the protocol's longest wait.
    package static let usualPollInterval: Int64 = 60

    private let address: PushAddress
    /// Whether a push service in front looks at the VAPID; else the agent does.
    package let isVAPIDUpstream: Bool
    /// Seconds.
    package let pollInterval: Int64
    package let rates: PushRates

    /// - Parameter url: what issuers see of the receiver, such as `https://push.bank.example`.
    /// - Throws: if no endpoint can begin with it.
    package init(
        url: String, isVAPIDUpstream: Bool = false, pollInterval: Int64 = Self.usualPollInterval,
        rates: PushRates = PushRates()
    ) throws(ProtocolError) {
        let address = PushAddress()
        try address.set(url)
        self.init(address: address, isVAPIDUpstream: isVAPIDUpstream, pollInterval: pollInterval, rates: rates)
    }

    /// - Parameter address: nobody pushes while it is not set.
    package init(
        address: PushAddress, isVAPIDUpstream: Bool = false, pollInterval: Int64 = Self.usualPollInterval,
        rates: PushRates = PushRates()
    ) {
        self.address = address
        self.isVAPIDUpstream = isVAPIDUpstream
        self.pollInterval = pollInterval
        self.rates = rates
    }

    /// Whether there is an address to push to.
    var hasAddress: Bool { address.base != nil }

    func endpoint(_ token: PushToken) throws(ProtocolError) -> PushEndpoint {
        guard let base = address.base else { throw ProtocolError(what: "is not known yet", where: "push endpoint") }
        return try PushEndpoint(base + token.text)
    }

    /// Whether an endpoint was made with this URL.
    func begins(_ endpoint: PushEndpoint) -> Bool {
        guard let base = address.base else { return false }
        return endpoint.text.utf8.starts(with: base.utf8)
            && endpoint.text.utf8.count == base.utf8.count + PushToken.characters
    }
}

/// How many pushes are taken, each in a minute; as many may come at once.
package struct PushRates: Sendable {
    package var ofEndpoint: Int64 = 600
    package var inAll: Int64 = 60_000

    package init() {}
}
