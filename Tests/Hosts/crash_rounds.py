"""Rounds of random lives: several enrollments, many acts at once, a faulty issuer, and a death at some random point."""

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from crash_ledger import Purchase
from crash_points import recover
from crash_scene import Scene
from crash_world import DyingAgent, Gone, Issuer, Refused
from powercut import WAYS

FAULTS = ("slow=0.1:20ms,drop-before=0.02,drop-after=0.04,500=0.02,503=0.02,garbage=0.02,truncated=0.02,duplicate=0.4,"
          "reorder=0.4")
ENROLLMENTS = 3
HANDS = 4  # Acts at once.
ACTS = 12  # Of one life, at least.
LIVES_BETWEEN_CHECKS = 10
ODDS = {"purchase": 30, "approve": 40, "deny": 10, "again": 10, "conflict": 3, "cancel": 5, "fetch": 5, "refuse": 3,
        "enroll": 1}
# Deaths near these are the most telling; any other point is drawn as often as they are together.
FAVOURITES = ["sync agent.db-wal", "send tcp", "send unix"]


class Round:
    """All random choices come from the seed; what the threads of the agent make of them does not."""

    def __init__(self, folder: Path, library: Path, seed: int, with_faults: bool):
        self.rng = random.Random(seed)
        folder.mkdir()
        options = ["--faults", f"{FAULTS if with_faults else 'duplicate=0.4,reorder=0.4'},seed={seed}"]
        self.issuer = Issuer(folder, *options)
        self.scene = Scene(DyingAgent(folder / "agent", library), self.issuer)

    def close(self):
        self.scene.agent.kill()
        self.issuer.program.stop()

    @property
    def crashes(self) -> int:
        return self.scene.agent.crashes

    def run(self, lives: int, on_crash):
        scene = self.scene
        recover(scene)
        while len(scene.ledger.enrollments) < ENROLLMENTS:
            self.tolerantly(scene.enroll)
            recover(scene)
        for life in range(lives):
            self.live()
            on_crash()
            if (life + 1) % LIVES_BETWEEN_CHECKS == 0:
                recover(scene)
        scene.ledger.look_at_all()
        recover(scene)

    def live(self):
        """One life, from its start to its death."""
        agent, rng = self.scene.agent, self.rng
        dies_at_start = agent.process is None and rng.random() < 0.2
        if not dies_at_start:
            self.begin()
        label = rng.choice(["", *FAVOURITES]) if rng.random() < 0.5 else ""
        countdown = rng.randrange(1, 6 if label else 150)
        agent.shim.order(label, countdown, rng.choice(list(WAYS)), rng.choice([0, rng.randrange(1, 1 << 32)]))
        try:
            if dies_at_start:
                self.begin()
            with ThreadPoolExecutor(HANDS) as hands:
                while agent.process.poll() is None:
                    for done in [hands.submit(self.act, rng.randrange(1 << 32)) for _ in range(ACTS)]:
                        done.result()
        except Gone:
            pass
        agent.bury()
        agent.shim.clear()

    def begin(self):
        if self.scene.agent.process is None:
            self.scene.agent.start()

    def tolerantly(self, what, *arguments, **named):
        """What a faulty issuer can make fail is tried by someone else later."""
        try:
            what(*arguments, **named)
        except Refused:
            pass

    def act(self, seed: int):
        """Something that someone does, to something that nobody else is at."""
        scene, rng = self.scene, random.Random(seed)
        kind = rng.choices(list(ODDS), list(ODDS.values()))[0]
        if kind == "enroll":
            self.tolerantly(scene.enroll)
        elif kind == "fetch":
            self.tolerantly(scene.agent.call, "POST", "/fetch", {})
        elif kind == "purchase":
            scene.purchase(rng.choice(scene.ledger.enrollments), assertion=rng.choice(["webauthn.get", "payment.get"]))
        elif kind == "refuse":
            scene.purchase(rng.choice(scene.ledger.enrollments), userVerification="required")
        else:
            with scene.ledger.one_of(rng, only_undecided=kind != "again") as purchase:
                if purchase is not None:
                    self.act_on(purchase, kind, rng)

    def act_on(self, purchase: Purchase, kind: str, rng: random.Random):
        scene = self.scene
        if kind == "again":
            scene.ask_again(purchase, **rng.choice([{"repeat": 2}, {"newJti": True}, {"newJti": True, "repeat": 3}]))
        elif kind == "cancel":
            scene.cancel(purchase)
        elif kind == "conflict":
            # Whichever comes first is presented: the agent must have the one that the ledger means.
            scene.wait_for(purchase)
            scene.conflict(purchase)
        elif rng.random() < 0.03:
            scene.decide_by_command(kind, scene.wait_for(purchase))
        else:
            self.tolerantly(scene.decide, kind, purchase, wait=5, deliveryTimeout=rng.choice([0, 5]))
