"""One agent at one issuer, and what people and merchants do with them; each act is written in the ledger first."""

import json
import time
import uuid

from crash_ledger import Enrollment, Ledger, Purchase
from crash_world import DyingAgent, Gone, Issuer, Refused

SETTLED_WITHIN = 90
TRANSACTION = {"merchantName": "Crash & Söhne", "purchaseAmount": "12345", "purchaseCurrency": "978",
               "purchaseExponent": "2", "purchaseDate": "20260102030405", "expiresIn": 3600}


class Broken(AssertionError):
    """A promise does not hold."""


class Scene:
    def __init__(self, agent: DyingAgent, issuer: Issuer):
        self.agent, self.issuer = agent, issuer
        self.ledger = Ledger(issuer, name=f"crashes {uuid.uuid4().hex[:8]}")

    # What happens at the agent: Gone where it dies meanwhile.

    def enroll(self) -> Enrollment:
        code = self.issuer.call("POST", "/enrollment-codes", {})["code"]
        answer = self.agent.call("POST", "/enrollments", {
            "issuer": self.issuer.origin, "code": code, "authnType": "presence",
            "name": f"{self.ledger.name} {uuid.uuid4().hex[:8]}"})
        enrollment = Enrollment(answer["id"], answer["authenticatorId"])
        if enrollment.authenticator not in self.ledger.authenticators():
            self.ledger.enrollments.append(enrollment)
        return enrollment

    def unenroll(self, enrollment: Enrollment, erase: bool = False):
        enrollment.is_leaving, enrollment.is_erased = True, erase or enrollment.is_erased
        command = {"erase": True} if enrollment.is_erased else {}
        self.agent.call("DELETE", f"/enrollments/{enrollment.id}", command, patience=90)
        self.ledger.leave(enrollment)

    def decide(self, decision: str, purchase: Purchase, **command):
        """Approves or denies; what is acknowledged must never be lost."""
        purchase.attempted = decision
        try:
            self.agent.call("POST", f"/requests/{purchase.acs_trans_id}/{decision}", command)
        except Refused:
            purchase.attempted = None
            raise
        purchase.acknowledged = True

    def decide_by_command(self, decision: str, purchase: Purchase):
        """The same by `oobctl`, as a person does it."""
        purchase.attempted = decision
        run = self.agent.oobctl(decision, purchase.acs_trans_id)
        if run.returncode not in (0, 75, 10):
            raise Gone if run.returncode in (1, 11, 69) else Broken(f"oobctl {decision}: {run.returncode} {run.stderr}")
        purchase.acknowledged = True

    def wait_for(self, purchase: Purchase) -> Purchase:
        """Until the agent has it."""
        deadline = time.monotonic() + SETTLED_WITHIN
        while True:
            try:
                self.agent.call("GET", f"/requests/{purchase.acs_trans_id}")
                return purchase
            except Refused:
                if time.monotonic() > deadline:
                    raise Broken(f"purchase {purchase.acs_trans_id} does not come:\n{self.agent.tail()}") from None
                time.sleep(0.01)  # Asks again; nothing depends on how long.

    # What happens at the issuer.

    def purchase(self, enrollment: Enrollment | None = None, **terms) -> Purchase:
        """A purchase, of the first enrollment unless another is named."""
        enrollment = enrollment or self.ledger.enrollments[0]
        purchase = Purchase(
            str(uuid.uuid4()), enrollment.authenticator, {**TRANSACTION, **terms},
            refused=terms.get("userVerification") == "required")
        if "expiresIn" in terms:
            purchase.expires_at = time.time() + terms["expiresIn"] + 1
        self.order(purchase)
        self.ledger.purchases.append(purchase)
        return purchase

    def order(self, purchase: Purchase, **how):
        self.issuer.call("POST", "/purchases", {
            **purchase.terms, "acsTransId": purchase.acs_trans_id, "authenticatorId": purchase.authenticator, **how})

    def ask_again(self, purchase: Purchase, **how):
        """The same transaction, as another message or the same one twice."""
        purchase.asked_again = purchase.asked_again or "newJti" in how
        self.order(purchase, **how)

    def conflict(self, purchase: Purchase):
        """Another transaction under the same acsTransId."""
        purchase.conflicts += 1
        self.order(purchase, purchaseAmount="99999", force=True)

    def cancel(self, purchase: Purchase):
        purchase.cancelled = True
        self.issuer.call("POST", f"/purchases/{purchase.acs_trans_id}/cancel", {})

    # What the agent goes through.

    def pending(self, **order) -> Purchase:
        return self.wait_for(self.purchase(**order))

    def settle(self):
        """Until every promise holds; Gone where the agent dies meanwhile."""
        deadline = time.monotonic() + SETTLED_WITHIN
        while True:
            self.finish_leaving()
            problems = self.ledger.problems(self.agent)
            if not problems:
                return
            if time.monotonic() > deadline:
                raise Broken("\n".join(problems[:20]) + f"\nThe agent says:\n{self.agent.tail()}")
            time.sleep(0.05)  # Asks again; nothing depends on how long.

    def finish_leaving(self):
        """Who was told nothing says `unenroll` once more."""
        for enrollment in [each for each in self.ledger.enrollments if each.is_leaving]:
            self.unenroll(enrollment)

    def story(self, purchase: Purchase) -> str:
        return json.dumps(self.issuer.call("GET", f"/purchases/{purchase.acs_trans_id}"), indent=1)
