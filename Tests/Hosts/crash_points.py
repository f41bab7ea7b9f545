"""Every step dies at each of its points: before the call, after it, and by a cut of power at it."""

import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from crash_scene import Broken, Scene
from crash_steps import STEPS
from crash_world import DyingAgent, Gone, Issuer, Refused


@dataclass(frozen=True)
class Death:
    """Where and how: the occurrence of a label in a step; `seed` says what survives a power cut, 0 nothing."""
    step: str
    label: str
    occurrence: int
    way: str
    seed: int

    def __str__(self):
        return f"{self.step}/{self.label}/{self.occurrence}/{self.way}/{self.seed}"

    @staticmethod
    def named(text: str) -> "Death":
        step, label, occurrence, way, seed = text.split("/")
        return Death(step, label, int(occurrence), way, int(seed))


def deaths(step: str, labels: list[str], rng: random.Random) -> list[Death]:
    """All of a step that went through these points."""
    found, seen = [], Counter()
    for label in labels:
        seen[label] += 1
        # A cut is most telling before what would have saved, and after anything else.
        cut = "cut-before" if label.startswith("sync ") else "cut-after"
        ways = [("kill-before", 0), ("kill-after", 0), (cut, 0), (cut, rng.randrange(1, 1 << 32))]
        found += [Death(step, label, seen[label], way, seed) for way, seed in ways]
    return found


class Stage:
    """Where steps are played: one issuer, one agent that goes on living, and a new one for each first start."""

    def __init__(self, folder: Path, library: Path, issuer: Issuer):
        self.folder, self.library, self.issuer = folder, library, issuer
        self.crashes = self.scenes = 0
        self.scene = self.new_scene()

    def new_scene(self) -> Scene:
        self.scenes += 1
        return Scene(DyingAgent(self.folder / str(self.scenes), self.library), self.issuer)

    def close(self):
        self.scene.agent.kill()

    def play(self, step: str, death: Death | None = None) -> list[str]:
        """One step, and then every promise; returns the labels of the points that it went through."""
        if step == "first_start":
            scene = self.new_scene()
        else:
            scene = self.scene = self.ready()
        before = scene.agent.crashes
        labels = act(scene, step, death)
        recover(scene)
        if step in ("first_start", "enroll", "change_the_secret"):
            prove(scene)
        if step == "first_start":
            scene.agent.stop()
        self.crashes += scene.agent.crashes - before
        return labels

    def ready(self) -> Scene:
        """An agent that has an enrollment; a new one when the state has grown."""
        scene = self.scene
        # What ended with its enrollment is no longer in the ledger, but the agent still has it.
        has_grown = len(scene.ledger.purchases) > 150 or scene.agent.crashes > 300
        if has_grown and scene.agent.process is not None:
            scene.ledger.look_at_all()
            scene.settle()
            scene.agent.stop()
            scene = self.new_scene()
        if scene.agent.process is None:
            scene.agent.start()
        if not scene.ledger.enrollments:
            scene.enroll()
        return scene


def act(scene: Scene, step: str, death: Death | None) -> list[str]:
    """One step, at whose end the agent is alive, stopped or dead."""
    agent = scene.agent
    acts = STEPS[step](scene)
    next(acts)
    passed = 0 if agent.process is None else len(agent.shim.labels())
    if death:
        agent.shim.order(death.label, death.occurrence, death.way, death.seed)
    try:
        next(acts, None)
        if agent.process is not None:
            scene.settle()
    except Gone:
        agent.bury()
    agent.shim.clear()
    return agent.shim.labels(passed)


def recover(scene: Scene):
    """Alive again, with every promise kept."""
    if scene.agent.process is not None:
        try:
            return scene.settle()
        except Gone:  # It died after its last answer.
            scene.agent.bury()
    scene.agent.start()
    scene.settle()


def prove(scene: Scene):
    """That the newest key signs, and that an agent without one can make one."""
    if not scene.ledger.enrollments:
        scene.enroll()
    purchase = scene.purchase(scene.ledger.enrollments[-1])
    try:
        scene.decide("approve", scene.wait_for(purchase))
    except Refused as refusal:
        raise Broken(f"the newest enrollment cannot approve: {refusal}\n{scene.agent.tail()}") from None
    scene.settle()
