public import FoundationEssentials

/// The app, which opens no URL and keeps what it was to open.
@MainActor
open class UIApplication {
    /// An option of ``open(_:options:completionHandler:)``: nothing here depends on it.
    public struct OpenExternalURLOptionsKey: RawRepresentable, Hashable, Sendable {
        /// Opens the URL in an app that has it as a universal link, and in no browser.
        public static let universalLinksOnly = Self(rawValue: "UIApplicationOpenURLOptionUniversalLinksOnly")

        /// The name of the option.
        public let rawValue: String

        /// Makes an option of its name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The app of this process.
    public static let shared = UIApplication()

    private static let maxOpened = 100

    /// The URLs that were to be opened, the newest last: at most 100.
    public private(set) final var opened: [URL] = []

    /// Makes an app that a test has to itself.
    public init() {}

    /// Keeps the URL.
    ///
    /// - Parameter completionHandler: called with true before this returns.
    open func open(
        _ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:],
        completionHandler: (@MainActor @Sendable (Bool) -> Void)? = nil
    ) {
        opened.append(url)
        opened.removeFirst(max(0, opened.count - Self.maxOpened))
        completionHandler?(true)
    }
}
