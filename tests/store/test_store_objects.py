"""Objects: identity, verified ranges, and every way in which stored bytes can stop being what they were."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from blake3 import blake3
from schemaxis_server.faults import Fault
from schemaxis_server.store.damage import ObjectCorrupt
from schemaxis_server.store.object_reader import AHEAD_READERS
from schemaxis_server.store.objects import ObjectStore, Receipt
from schemaxis_server.store.pieces import PIECE_BYTES

SIZES = [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 9 * PIECE_BYTES + 17]


def content(size: int) -> bytes:
    return random.Random(size).randbytes(size)


async def add(objects: ObjectStore, tmp_path: Path, data: bytes) -> Receipt:
    source = tmp_path / "source"
    source.write_bytes(data)
    return await objects.add(source)


@pytest.mark.parametrize("size", SIZES)
async def test_a_receipt_is_what_anyone_can_compute(objects: ObjectStore, tmp_path: Path, size: int) -> None:
    data = content(size)
    receipt = await add(objects, tmp_path, data)
    pieces = b"".join(blake3(data[at : at + PIECE_BYTES]).digest() for at in range(0, len(data), PIECE_BYTES))
    assert receipt == Receipt(hashlib.sha256(data).hexdigest(), size, blake3(pieces).hexdigest())
    path = objects.path(receipt)
    assert path.read_bytes() == data
    assert path.with_name(path.name + ".b3").read_bytes() == pieces
    assert path.stat().st_mode & 0o777 == 0o400
    await objects.verify(receipt)
    assert [entry.name for entry in (tmp_path / "objects").iterdir()] == [receipt.sha256[:2]]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("chunk", [1000, PIECE_BYTES, 3 * PIECE_BYTES + 5, 1 << 30])
async def test_a_sequential_read_is_whole(
    objects: ObjectStore, tmp_path: Path, size: int, chunk: int
) -> None:
    data = content(size)
    read = bytearray()
    async with objects.open(await add(objects, tmp_path, data)) as reader:
        while part := await reader.read(len(read), chunk):
            assert len(part) == min(chunk, size - len(read))
            read += part
    assert bytes(read) == data


async def test_any_range_in_any_order(objects: ObjectStore, tmp_path: Path) -> None:
    data = content(9 * PIECE_BYTES + 17)
    dice = random.Random(1)
    async with objects.open(await add(objects, tmp_path, data)) as reader:
        position = 0
        for _ in range(300):
            if dice.random() < 0.5:
                position = dice.randrange(len(data) + 1)
            length = dice.choice([0, 1, 16_384, PIECE_BYTES, 2_000_000])
            assert await reader.read(position, length) == data[position : position + length]
            position = min(position + length, len(data))


async def test_concurrent_reads_of_one_reader(objects: ObjectStore, tmp_path: Path) -> None:
    data = content(9 * PIECE_BYTES)
    reader = objects.open(await add(objects, tmp_path, data))
    ranges = [(number * 50_000, 60_000) for number in range(40)]
    parts = await asyncio.gather(*(reader.read(offset, length) for offset, length in ranges))
    assert parts == [data[offset : offset + length] for offset, length in ranges]
    reading = asyncio.ensure_future(reader.read(0, len(data)))
    await asyncio.sleep(0)
    reader.close()
    outcome = (await asyncio.gather(reading, return_exceptions=True))[0]
    assert outcome == data or isinstance(outcome, ValueError)
    with pytest.raises(ValueError, match="closed"):
        await reader.read(0, 1)


@pytest.mark.parametrize(("offset", "length"), [(-1, 1), (101, 1), (0, -1)])
async def test_a_range_outside_is_refused(
    objects: ObjectStore, tmp_path: Path, offset: int, length: int
) -> None:
    async with objects.open(await add(objects, tmp_path, content(100))) as reader:
        with pytest.raises(Fault) as refused:
            await reader.read(offset, length)
        assert refused.value.code == "OUT_OF_RANGE"
        assert await reader.read(100, 5) == b""


def rewrite(path: Path, data: bytes) -> None:
    path.chmod(0o600)
    path.write_bytes(data)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    rewrite(path, bytes(data))


def cut(path: Path) -> None:
    rewrite(path, path.read_bytes()[:-1])


def grow(path: Path) -> None:
    rewrite(path, path.read_bytes() + b"\0")


def remove(path: Path) -> None:
    path.unlink()


def link(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


Damage = Callable[[Path], None]


@pytest.mark.parametrize("of_list", [False, True])
@pytest.mark.parametrize("damage", [flip, cut, grow, remove, link, fifo, directory])
async def test_no_damage_is_read(objects: ObjectStore, tmp_path: Path, damage: Damage, of_list: bool) -> None:
    data = content(5 * PIECE_BYTES)
    receipt = await add(objects, tmp_path, data)
    path = objects.path(receipt)
    damage(path.with_name(path.name + ".b3") if of_list else path)

    with pytest.raises(ObjectCorrupt) as verdict:
        await objects.verify(receipt)
    assert (verdict.value.code, verdict.value.sha256) == ("RESOURCE_CORRUPT", receipt.sha256)
    async with objects.open(receipt) as reader:
        with pytest.raises(ObjectCorrupt):
            await reader.read(0, len(data))


async def test_a_range_is_judged_by_its_own_pieces(objects: ObjectStore, tmp_path: Path) -> None:
    data = content(8 * PIECE_BYTES)
    receipt = await add(objects, tmp_path, data)
    flip(objects.path(receipt))
    async with objects.open(receipt) as reader:
        assert await reader.read(0, 4 * PIECE_BYTES) == data[: 4 * PIECE_BYTES]
        with pytest.raises(ObjectCorrupt, match="from 1048576 on"):
            await reader.read(5 * PIECE_BYTES - 1, 1)
        assert await reader.read(5 * PIECE_BYTES, 10) == data[5 * PIECE_BYTES :][:10]


async def test_a_sound_read_vouches_for_no_later_one(objects: ObjectStore, tmp_path: Path) -> None:
    data = content(2 * PIECE_BYTES)
    receipt = await add(objects, tmp_path, data)
    path = objects.path(receipt)
    async with objects.open(receipt) as reader:
        assert await reader.read(0, 100) == data[:100]
        path.chmod(0o600)
        with path.open("r+b") as file:
            file.write(b"\0\0\0\0")
        with pytest.raises(ObjectCorrupt):
            await reader.read(0, 100)
        with path.open("r+b") as file:
            file.write(data[:4])
        assert await reader.read(0, 100) == data[:100]
        os.truncate(path, 10)
        with pytest.raises(ObjectCorrupt, match="10 bytes"):
            await reader.read(PIECE_BYTES, 100)


async def test_a_swapped_object_is_not_its_receipt(objects: ObjectStore, tmp_path: Path) -> None:
    one = await add(objects, tmp_path, content(1000))
    other = await add(objects, tmp_path, content(1000)[::-1])
    objects.path(one).unlink()
    os.link(objects.path(other), objects.path(one))
    async with objects.open(one) as reader:
        with pytest.raises(ObjectCorrupt):
            await reader.read(0, 10)


@pytest.mark.parametrize("damage", [flip, cut, remove, link, fifo])
@pytest.mark.parametrize("of_list", [False, True])
async def test_adding_again_reuses_what_is_sound_and_mends_what_is_not(
    objects: ObjectStore, tmp_path: Path, damage: Damage, of_list: bool
) -> None:
    data = content(PIECE_BYTES + 1)
    receipt = await add(objects, tmp_path, data)
    path = objects.path(receipt)
    inode = path.stat().st_ino
    assert await add(objects, tmp_path, data) == receipt
    assert path.stat().st_ino == inode

    damage(path.with_name(path.name + ".b3") if of_list else path)
    assert await add(objects, tmp_path, data) == receipt
    await objects.verify(receipt)


async def test_the_same_content_twenty_times_at_once(objects: ObjectStore, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(content(300_000))
    receipts = await asyncio.gather(*(objects.add(source) for _ in range(20)))
    assert len(set(receipts)) == 1
    await objects.verify(receipts[0])
    assert len(list(objects.path(receipts[0]).parent.iterdir())) == 2


@pytest.mark.parametrize("kind", [link, fifo, directory, remove])
async def test_a_source_that_is_no_file_is_refused(
    objects: ObjectStore, tmp_path: Path, kind: Damage
) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"content")
    kind(source)
    with pytest.raises(OSError, match=r"regular|directory|symbolic"):
        await objects.add(source)


async def test_what_an_interrupted_add_left_is_removed(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path / "objects")
    receipt = await add(store, tmp_path, b"kept")
    store.close()
    (tmp_path / "objects" / ".0123.tmp").write_bytes(b"half")
    store = ObjectStore(tmp_path / "objects")
    assert not (tmp_path / "objects" / ".0123.tmp").exists()
    await store.verify(receipt)
    store.close()
    with pytest.raises(Fault) as refused:
        await store.add(tmp_path / "source")
    assert refused.value.code == "SHUTTING_DOWN"


def test_only_a_digest_names_an_object(objects: ObjectStore) -> None:
    with pytest.raises(ValueError, match="SHA-256"):
        objects.path(Receipt("../../../etc/passwd", 1, ""))


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.EMFILE, "OVERLOADED"),
        (errno.ENFILE, "OVERLOADED"),
        (errno.ENOMEM, "OVERLOADED"),
        (errno.EIO, "WORKSPACE_CORRUPT"),
        (errno.EACCES, "WORKSPACE_CORRUPT"),
        (errno.ENOENT, "RESOURCE_CORRUPT"),
        (errno.ELOOP, "RESOURCE_CORRUPT"),
        (errno.ENOTDIR, "RESOURCE_CORRUPT"),
    ],
)
@pytest.mark.parametrize("of_list", [False, True])
async def test_only_damage_is_told_as_damage(
    objects: ObjectStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    code: str,
    of_list: bool,
) -> None:
    data = content(5 * PIECE_BYTES)
    receipt = await add(objects, tmp_path, data)
    ending = ".b3" if of_list else receipt.sha256
    opening = os.open

    def refuse(path: str | Path, *arguments: int) -> int:
        if str(path).endswith(ending):
            raise OSError(number, os.strerror(number), str(path))
        return opening(path, *arguments)

    monkeypatch.setattr(os, "open", refuse)
    outcomes = await asyncio.gather(
        objects.verify(receipt),
        objects.open(receipt).read(0, 10),
        add(objects, tmp_path, data),
        return_exceptions=True,
    )
    monkeypatch.undo()
    assert [outcome.code for outcome in outcomes[:2] if isinstance(outcome, Fault)] == [code, code]
    if code == "RESOURCE_CORRUPT":
        assert outcomes[2] == receipt
    else:
        assert isinstance(outcomes[2], Fault)
        assert outcomes[2].code == code
        assert outcomes[2].record.retryable == (code == "OVERLOADED")
    assert await objects.open(receipt).read(0, 10) == data[:10]


async def test_what_the_store_cannot_do_is_not_the_source_s_fault(
    objects: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, code in ((errno.EROFS, "WORKSPACE_CORRUPT"), (errno.EMFILE, "OVERLOADED")):

        def refuse(path: str | Path, flags: int, mode: int = 0o777, number: int = number) -> int:
            raise OSError(number, os.strerror(number), str(path))

        source = tmp_path / "source"
        source.write_bytes(b"sound")
        with monkeypatch.context() as patched:
            patched.setattr("schemaxis_server.store.objects._copy", lambda *_: refuse("copy", 0))
            with pytest.raises(Fault) as fault:
                await objects.add(source)
        assert fault.value.code == code
    source.unlink()
    with pytest.raises(FileNotFoundError):
        await objects.add(source)


async def test_readers_that_wait_hold_neither_descriptors_nor_many_windows(
    objects: ObjectStore, tmp_path: Path
) -> None:
    data = content(17 * PIECE_BYTES)
    receipt = await add(objects, tmp_path, data)
    before = len(os.listdir("/proc/self/fd"))
    readers = [objects.open(receipt) for _ in range(2 * AHEAD_READERS)]
    for reader in readers:
        assert await reader.read(0, 1000) + await reader.read(1000, 1000) == data[:2000]
    assert len(os.listdir("/proc/self/fd")) == before
    assert sum(bool(reader._windows) for reader in readers) == AHEAD_READERS
    for reader in readers:
        reader.close()
    async with objects.open(receipt) as late:
        assert await late.read(0, 1000) + await late.read(1000, 1000) == data[:2000]
        assert late._windows
