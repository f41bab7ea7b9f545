/// A screen without pixels, which keeps what it presents, so that a test can look at it.
@MainActor
open class UIViewController {
    /// The title; `nil` if there is none.
    open var title: String?
    /// The controller that this one presents; `nil` if it presents none.
    public private(set) final var presentedViewController: UIViewController?
    /// The controller that presents this one; `nil` if none does.
    public private(set) final weak var presentingViewController: UIViewController?

    /// Makes a screen that presents nothing.
    public init() {}

    /// Presents a controller, at once.
    ///
    /// As in UIKit, nothing happens if this one presents another already.
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

    /// Dismisses the controller that this one presents, or this one if it presents none.
    ///
    /// - Parameter completion: called before this returns.
    open func dismiss(animated: Bool, completion: (@MainActor () -> Void)? = nil) {
        let presenter = presentedViewController == nil ? presentingViewController : self
        presenter?.presentedViewController?.presentingViewController = nil
        presenter?.presentedViewController = nil
        completion?()
    }
}
