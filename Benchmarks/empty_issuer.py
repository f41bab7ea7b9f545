"""An issuer of very many enrollments for which there is never anything: it answers batch fetches alone."""

import asyncio
import json

from hungry_issuer import HungryIssuer, hold, send


class EmptyIssuer(HungryIssuer):
    """`with EmptyIssuer() as issuer`; `batches` counts those that were not to wait."""

    def __init__(self):
        super().__init__(hold)
        self.batches = 0

    async def answer(self, writer, method, url, fields, body):
        if url.path == "/v1/authenticator":
            return send(writer, 503, {})
        if url.path != "/v1/batch-fetch":
            return await super().answer(writer, method, url, fields, body)
        wait = json.loads(body)["wait"]
        self.batches += wait == 0
        await asyncio.sleep(wait)
        send(writer, 200, {"results": []})

    def discovery(self) -> dict:
        return {**super().discovery(), "batchFetchEndpoint": f"{self.origin}/v1/batch-fetch"}
