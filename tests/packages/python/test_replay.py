"""Replays of receipts."""

import asyncio
import json
import signal
import threading
import time

import pytest
from conftest import TWICE

from toolcell import AsyncToolbox, Refused, Replay, Toolbox

PARAMETERS = {"n": {"type": "number", "required": True}}


@pytest.fixture
def receipt(box):
    box.create("twice", "Doubles", TWICE, parameters=PARAMETERS)
    receipt = box.run("twice", {"n": 21}, receipt=True).receipt
    assert receipt is not None
    return receipt


def test_a_run_is_reproduced_from_its_receipt(box, receipt):
    run = box.run("twice", {"n": 21})
    replay = box.replay(receipt)
    assert isinstance(replay, Replay) and replay.reproduced and replay.signed_here
    assert (replay.outcome, replay.value, replay.fuel, replay.tool_id) == ("returned", 42, run.fuel, run.tool_id)
    assert (replay.differences, replay.notes) == ([], []) and len(replay.signed_by) == 64
    assert "reproduced" in replay.text and replay.load_fuel > 0
    assert box.replay(receipt, any_version=True) == replay


def test_a_failure_is_reproduced_too(box):
    box.create("fails", "Throws", "const execute = () => { throw new RangeError('no') }")
    with pytest.raises(Exception) as failed:
        box.run("fails", receipt=True)
    replay = box.replay(failed.value.run.receipt)
    assert (replay.reproduced, replay.outcome, replay.value) == (True, "threw", None)


def test_a_receipt_is_replayed_without_a_store_and_by_others(receipt, isolation, tmp_path):
    async def main():
        async with AsyncToolbox(isolation=isolation) as box:
            return await box.replay(receipt)

    with Toolbox(isolation=isolation) as without, Toolbox(tmp_path / "other", isolation=isolation) as other:
        for replay in (without.replay(receipt), other.replay(receipt), asyncio.run(main())):
            assert (replay.reproduced, replay.value, replay.signed_here) == (True, 42, False)


def test_a_receipt_that_was_changed_is_refused(box, receipt):
    document = json.loads(receipt)
    assert json.loads(document["run"]["parameters"]) == {"n": 21}
    changed = receipt.replace('{\\"n\\":21}', '{\\"n\\":22}')
    assert changed != receipt
    with pytest.raises(Refused) as refused:
        box.replay(changed)
    assert refused.value.code == "receipt-changed" and "the parameters" in str(refused.value)


def test_a_replay_ends_when_it_is_cancelled(box, isolation):
    box.create("count", "Counts", "const execute = ({ n }) => { let s = 0; for (let i = 0; i < n; i++) s += i; return s }")
    few = box.run("count", {"n": 300_000})
    long = box.run("count", {"n": round(300_000 * 2.5 / few.duration)}, receipt=True, limits={"fuel": 200_000_000_000})
    thread = threading.main_thread().ident
    threading.Timer(0.3, lambda: signal.pthread_kill(thread, signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        box.replay(long.receipt)
    assert time.monotonic() - began < 1.3

    async def main():
        async with AsyncToolbox(isolation=isolation) as other:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(other.replay(long.receipt), 0.3)

    began = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda box: box.replay(5), TypeError, "receipt is a int, it must be a str"),
        (lambda box: box.replay("nonsense"), Refused, "not a receipt"),
        (lambda box: box.replay("{}"), Refused, "not a receipt"),
        (lambda box: box.replay("{}", any_version="yes"), TypeError, "any_version is a str, it must be a bool"),
    ],
)
def test_what_is_no_receipt_is_named(box, call, kind, says):
    with pytest.raises(kind, match=says):
        call(box)
