/// A stub of a screen, which records the presented controller for a test.
@MainActor
open class UIViewController {
    /// The title, or `nil` for none.
    open var title: String?
    /// The presented controller, or `nil` for none.
    public private(set) final var presentedViewController: UIViewController?
    /// The presenting controller, or `nil` for none.
    public private(set) final weak var presentingViewController: UIViewController?

    /// Makes a screen without a presented controller.
    public init() {}

    /// Presents a controller at once.
    ///
    /// As in UIKit, the call has no effect if this controller already presents another one.
    ///
    /// - Parameter completion: called before this returns, if the controller is presented.
    open func present(
        _ viewControllerToPresent: UIViewController, animated: Bool, completion: (@MainActor () -> Void)? = nil
    ) {
        guard presentedViewController == nil else { return }
        presentedViewController = viewControllerToPresent
        viewControllerToPresent.presentingViewController = self
        completion?()
    }

    /// Dismisses the presented controller.
    ///
    /// Without one, dismisses this controller.
    ///
    /// - Parameter completion: called before this returns.
    open func dismiss(animated: Bool, completion: (@MainActor () -> Void)? = nil) {
        let presenter = presentedViewController == nil ? presentingViewController : self
        presenter?.presentedViewController?.presentingViewController = nil
        presenter?.presentedViewController = nil
        completion?()
    }
}
