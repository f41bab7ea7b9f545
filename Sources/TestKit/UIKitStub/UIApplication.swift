public import FoundationEssentials

/// A stub of the app, which records the URLs that it is asked to open, without opening them.
@MainActor
open class UIApplication {
    /// An option of ``open(_:options:completionHandler:)``, which has no effect here.
    public struct OpenExternalURLOptionsKey: RawRepresentable, Hashable, Sendable {
        /// Opens the URL in an app that has it as a universal link, not in a browser.
        public static let universalLinksOnly = Self(rawValue: "UIApplicationOpenURLOptionUniversalLinksOnly")

        /// The name of the option.
        public let rawValue: String

        /// Makes an option by name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The app of this process.
    public static let shared = UIApplication()

    private static let maxOpened = 100

    /// The recorded URLs, the newest last; at most 100.
    public private(set) final var opened: [URL] = []

    /// Makes a separate app for a test.
    public init() {}

    /// Records the URL.
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
