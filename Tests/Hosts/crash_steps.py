"""What an agent goes through, one step after the other: each is prepared, then the agent is told where to die in it.

A step is a generator: what stands before its `yield` is the preparation, what stands after it is where it may die.
"""

from collections.abc import Callable, Iterator

from crash_scene import Scene
from crash_world import Gone

Step = Callable[[Scene], Iterator[None]]


def first_start(scene: Scene):
    """Of a scene of its own: there is no state yet."""
    yield
    scene.agent.start()


def start(scene: Scene):
    """With a request that is pending, one that came meanwhile and a decision that was not sent."""
    scene.pending()
    undelivered(scene)
    scene.purchase()
    yield
    scene.agent.start()


def start_after_a_commit(scene: Scene):
    """With a decision that is in the database's log, and of which nobody knows whether the disk has it."""
    undelivered(scene, "sync agent.db-wal")
    yield
    scene.agent.start()


def undelivered(scene: Scene, label: str = "send tcp"):
    """An approval that did not leave: the agent dies before it sends anything, or before it syncs anything."""
    purchase = scene.pending()
    scene.agent.shim.order(label, 1, "kill-before", 0)
    try:
        scene.decide("approve", purchase)
    except Gone:
        pass
    scene.agent.kill()
    scene.agent.shim.clear()


def stop(scene: Scene):
    scene.pending()
    yield
    scene.agent.stop()


def enroll(scene: Scene):
    yield
    scene.enroll()


def receive(scene: Scene):
    yield
    scene.wait_for(scene.purchase())


def approve(scene: Scene):
    purchase = scene.pending()
    yield
    scene.decide("approve", purchase)


def approve_by_command(scene: Scene):
    purchase = scene.pending()
    yield
    scene.decide_by_command("approve", purchase)


def approve_a_payment(scene: Scene):
    purchase = scene.pending(assertion="payment.get")
    yield
    scene.decide("approve", purchase)


def deny(scene: Scene):
    purchase = scene.pending()
    yield
    scene.decide("deny", purchase)


def cancel(scene: Scene):
    purchase = scene.pending()
    yield
    scene.cancel(purchase)


def expire(scene: Scene):
    # In time for the agent to have it.
    scene.pending(expiresIn=4)
    yield


def supersede(scene: Scene):
    purchase = scene.pending()
    yield
    scene.ask_again(purchase, newJti=True)
    scene.decide("approve", purchase)


def duplicate(scene: Scene):
    purchase = scene.pending()
    scene.decide("deny", purchase)
    yield
    scene.ask_again(purchase, newJti=True, repeat=2)


def refuse(scene: Scene):
    yield
    scene.purchase(userVerification="required")


def conflict(scene: Scene):
    purchase = scene.pending()
    yield
    scene.conflict(purchase)
    scene.decide("approve", purchase)


def unenroll(scene: Scene):
    enrollment = scene.enroll()
    scene.purchase(enrollment)
    scene.wait_for(scene.purchase(enrollment))
    yield
    scene.unenroll(enrollment)


def erase(scene: Scene):
    enrollment = scene.enroll()
    purchase = scene.purchase(enrollment)
    scene.decide("approve", scene.wait_for(purchase))
    scene.wait_for(scene.purchase(enrollment))
    yield
    scene.unenroll(enrollment, erase=True)


def change_the_secret(scene: Scene):
    """Of three enrollments; the secret of the change before is enough by now."""
    while len(scene.ledger.enrollments) < 3:
        scene.enroll()
    if scene.agent.previous_secret:
        scene.agent.finish_change()
    scene.agent.stop()
    scene.agent.previous_secret = None
    scene.agent.start()
    scene.agent.stop()
    scene.agent.change_secret()
    yield
    scene.agent.start()
    scene.agent.finish_change()


STEPS: dict[str, Step] = {step.__name__: step for step in [
    first_start, start, start_after_a_commit, stop, enroll, receive, approve, approve_by_command, approve_a_payment,
    deny, cancel, expire, supersede, duplicate, refuse, conflict, unenroll, erase,
    change_the_secret]}
